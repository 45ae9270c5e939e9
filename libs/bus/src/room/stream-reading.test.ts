import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AckPolicy } from '@nats-io/jetstream';
import { newId } from '@recordbus/database';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { type Bus, nats } from '../bus.ts';
import { connectBus } from '../connect-bus.ts';
import { type EventStream, ensureEventStream, eventStream } from '../event-stream.ts';
import { problemOf } from './room-report.ts';
import { knownPart, readStream, unreadMessages } from './stream-reading.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = TEST_NATS_URL ? false : 'TEST_NATS_URL is not set';

describe('a reading of the stream', { skip, concurrency: true }, () => {
  let bus: Bus;
  let stream: EventStream;

  before(async () => {
    bus = connectBus({ urls: TEST_NATS_URL, name: 'test', log: createLogger('test', 'silent') });
    const suffix = newId().slice(-12);
    stream = { ...eventStream, name: `READING_${suffix}`, prefix: `reading-${suffix}`, maxBytes: 4 * 1024 ** 2 };
    await eventually(() => bus.connected);
    await ensureEventStream(bus, stream);
    const { consumers } = await bus[nats].jetstreamManager();
    for (const name of ['webhooks', 'extension-mails', 'crm', 'passer-by'])
      await consumers.add(stream.name, { durable_name: name, ack_policy: AckPolicy.Explicit });
    for (const text of ['one', 'two']) await bus[nats].jetstream().publish(`${stream.prefix}.x.y`, text);
    const messages = await (await bus[nats].jetstream().consumers.get(stream.name, 'webhooks')).fetch({
      max_messages: 2,
    });
    for await (const message of messages) await message.ackAck();
  });
  after(async () => {
    await (await bus[nats].jetstreamManager()).streams.delete(stream.name);
    await bus.close();
  });

  /** Returns the bus, on which the question for one consumer's position gets `answer`. */
  function whereConsumer(name: string, answer: () => Promise<never>): Bus {
    const jetstreamManager = async () => {
      const manager = await bus[nats].jetstreamManager();
      const info = (of: string, asked: string) => (asked === name ? answer() : manager.consumers.info(of, asked));
      return {
        ...manager,
        streams: manager.streams,
        consumers: Object.create(manager.consumers, {
          info: { value: info },
          list: { value: () => assert.fail('the list asks the servers of all consumers') },
        }),
      };
    };
    return Object.create(bus, { [nats]: { value: { ...bus[nats], jetstreamManager } } });
  }

  const positions = async (of: Bus, named: readonly string[]) =>
    (await readStream(of, stream, named)).readers.map(({ name, position, readUpTo }) => [name, position, readUpTo]);

  it('has the webhooks service, the after hooks and the named consumers, and no others', async () => {
    assert.deepEqual(await positions(bus, ['crm', 'gone']), [
      ['webhooks', 'known', 2],
      ['extension-mails', 'known', 0],
      ['crm', 'known', 0],
      ['gone', 'missing', 0],
    ]);
  });

  it("does not ask for other consumers' positions, whose servers may be down", async () => {
    const lacking = whereConsumer('passer-by', () => assert.fail('asked for the position'));
    assert.equal((await positions(lacking, [])).length, 2);
  });

  it('keeps everything for a consumer whose servers refuse or do not answer', async () => {
    const refuse = async () => {
      throw new Error('consumer is offline');
    };
    for (const answer of [refuse, () => new Promise<never>(() => {})]) {
      const lacking = whereConsumer('webhooks', answer);
      assert.deepEqual((await positions(lacking, []))[0], ['webhooks', 'unknown', 0]);
      const reading = await readStream(lacking, stream, []);
      assert.equal(reading.unreadFrom, 1);
      assert.deepEqual(
        [unreadMessages(reading), unreadMessages(knownPart(reading))],
        [2, 2],
        'an after hook has read nothing',
      );
      assert.match(
        problemOf({ reading, isFull: false, roomSec: 0, ageLeftSec: 0 }) ?? '',
        /the consumer extension-mails has acknowledged up to 0 of 2$/,
      );
      assert.match(
        problemOf({ reading, isFull: true, roomSec: 0, ageLeftSec: 0 }) ?? '',
        /the servers that hold the consumer webhooks do not answer/,
      );
    }
  });

  it('counts nothing as unread when only the reader that is behind does not answer', async () => {
    const lacking = whereConsumer('extension-mails', () => Promise.reject(new Error('consumer is offline')));
    const reading = await readStream(lacking, stream, []);
    assert.deepEqual([unreadMessages(reading), unreadMessages(knownPart(reading))], [2, 0]);
  });
});
