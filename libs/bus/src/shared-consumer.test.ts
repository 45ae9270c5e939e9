import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '@recordbus/database';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { type Bus, nats } from './bus.ts';
import { connectBus } from './connect-bus.ts';
import { getConsumer } from './consumer-state.ts';
import { type EventStream, ensureEventStream, eventStream } from './event-stream.ts';
import { createSharedConsumer } from './shared-consumer.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = TEST_NATS_URL ? false : 'TEST_NATS_URL is not set';
const log = createLogger('test', 'silent');

describe('a shared consumer', { skip }, () => {
  let bus: Bus;
  let stream: EventStream;
  before(async () => {
    bus = connectBus({ urls: TEST_NATS_URL, name: 'test', log });
    const suffix = newId().slice(-12);
    stream = { ...eventStream, name: `READER_${suffix}`, prefix: `reader-${suffix}`, maxBytes: 1024 ** 2 };
    await eventually(() => bus.connected);
  });
  after(async () => {
    await deleteStream();
    await bus.close();
  });

  const deleteStream = async () => (await bus[nats].jetstreamManager()).streams.delete(stream.name);
  const publish = (text: string) => bus[nats].jetstream().publish(`${stream.prefix}.x.y`, text);
  const read = (name: string, taken: string[]) =>
    createSharedConsumer({
      bus,
      stream,
      consumer: { name, subject: `${stream.prefix}.>`, ackWaitMs: 30_000, from: 'beginning' },
      maxMessages: 10,
      take(message) {
        taken.push(new TextDecoder().decode(message.data));
        message.ack();
      },
      log,
    });

  it('takes stored messages in order, then new ones', async () => {
    await ensureEventStream(bus, stream);
    await publish('one');
    const taken: string[] = [];
    const reader = read('order', taken);
    reader.start();
    await eventually(() => taken.length === 1);
    await publish('two');
    await eventually(() => taken.length === 2);
    assert.deepEqual(taken, ['one', 'two']);
    await reader.stop();
  });

  it('continues after the stream is deleted', async () => {
    const taken: string[] = [];
    const reader = read('deleted', taken);
    reader.start();
    await publish('before');
    await eventually(() => taken.includes('before'));
    await deleteStream();
    await eventually(() =>
      publish('after').then(
        () => true,
        () => false,
      ),
    );
    await eventually(() => taken.includes('after'));
    await reader.stop();
  });

  it('gets a returned message again, and not a dropped one', async () => {
    await eventually(() => bus.connected);
    const taken: string[] = [];
    const reader = createSharedConsumer({
      bus,
      stream,
      consumer: { name: 'again', subject: `${stream.prefix}.again.*`, ackWaitMs: 30_000, from: 'beginning' },
      maxMessages: 10,
      take({ data, attempt, ack, retry, drop }) {
        const text = new TextDecoder().decode(data);
        taken.push(`${text} ${attempt}`);
        if (text === 'dropped') drop();
        else if (attempt < 3) retry();
        else ack();
      },
      log,
    });
    reader.start();
    for (const text of ['dropped', 'returned']) await bus[nats].jetstream().publish(`${stream.prefix}.again.y`, text);
    await eventually(async () => {
      const { waiting, inProgress } = await getConsumer(bus, stream, 'again');
      return taken.length >= 4 && waiting + inProgress === 0;
    });
    assert.deepEqual(taken.toSorted(), ['dropped 1', 'returned 1', 'returned 2', 'returned 3']);
    await reader.stop();
  });

  it('stops at any moment', async () => {
    const reader = read('hasty', []);
    reader.start();
    await reader.stop();
  });
});
