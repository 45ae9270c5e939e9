import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '@recordbus/database';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { type Bus, nats } from './bus.ts';
import { connectBus } from './connect-bus.ts';
import type { EventMessage } from './event-message.ts';
import { type EventStream, ensureEventStream, eventStream } from './event-stream.ts';
import { followEvents, readEvents } from './stream-reader.ts';
import { managerOf, publishMessage, removeStream } from './testing.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = TEST_NATS_URL ? false : 'TEST_NATS_URL is not set';
const log = createLogger('test', 'silent');

describe('a reader of the stream', { skip }, () => {
  let bus: Bus;
  let stream: EventStream;
  before(async () => {
    bus = connectBus({ urls: TEST_NATS_URL, name: 'test', log });
    const suffix = newId().slice(-12);
    stream = { ...eventStream, name: `FOLLOW_${suffix}`, prefix: `follow-${suffix}`, maxBytes: 1024 ** 2 };
    await eventually(() => bus.connected);
    await ensureEventStream(bus, stream);
    for (const text of ['1', '2', '3', '4', '5']) await publish(text);
  });
  after(async () => {
    await removeStream(bus, stream).catch(() => {});
    await bus.close();
  });

  const publish = (text: string) =>
    publishMessage(bus, `${stream.prefix}.x.y`, text, { headers: { 'ce-type': 'x.y' } });
  const textOf = ({ data }: EventMessage) => new TextDecoder().decode(data);
  async function read(first: number, last: number): Promise<EventMessage[]> {
    const messages: EventMessage[] = [];
    for await (const message of readEvents(bus, stream, first, last)) messages.push(message);
    return messages;
  }
  const consumers = async () => (await managerOf(bus)).consumers.list(stream.name).next();

  it('reads from one sequence number to another', async () => {
    const messages = await read(2, 4);
    assert.deepEqual(messages.map(textOf), ['2', '3', '4']);
    const [message] = messages;
    assert.equal(message?.seq, 2);
    assert.equal(message.subject, `${stream.prefix}.x.y`);
    assert.ok(Math.abs(Date.now() - message.time.getTime()) < 3600_000);
    assert.equal(message.header('ce-type'), 'x.y');
    assert.equal(message.header('traceparent'), undefined);
    await eventually(async () => (await consumers()).length === 0);
  });

  it('throws 503 when the bus has no such message', async () => {
    await assert.rejects(read(6, 6), { status: 503 });
  });

  it('follows in order, first what is stored, until it is stopped', async () => {
    const ending = new AbortController();
    const seen: string[] = [];
    const following = followEvents({
      bus,
      stream,
      after: 3,
      take: (message) => seen.push(textOf(message)),
      ending: ending.signal,
    });
    await eventually(() => seen.length === 2);
    await publish('6');
    await eventually(() => seen.length === 3);
    assert.deepEqual(seen, ['4', '5', '6']);
    ending.abort();
    await following;
    await eventually(async () => (await consumers()).length === 0);
    await publish('7');
    assert.equal(seen.length, 3);
  });

  it('ends at once if it is stopped before it begins', () =>
    followEvents({ bus, stream, after: 0, take: () => {}, ending: AbortSignal.abort() }));

  it('reads what is left when the stream has dropped the oldest', async () => {
    const { streams } = await bus[nats].jetstreamManager();
    await streams.update(stream.name, { max_msgs: 2 });
    const messages = await read(1, 7);
    assert.deepEqual(messages.map(textOf), ['6', '7']);
  });

  it('ends following when the stream is gone', async () => {
    const following = followEvents({ bus, stream, after: 7, take: () => {}, ending: new AbortController().signal });
    const ended = following.catch((error) => assert.match(String(error), /deleted|not found/));
    await eventually(async () => (await consumers()).length > 0);
    await removeStream(bus, stream);
    await ended;
  });
});
