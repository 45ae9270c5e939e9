import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { AckPolicy, type Consumer, DeliverPolicy, DiscardPolicy } from '@nats-io/jetstream';
import { type Database, newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { type Bus, nats } from '../bus.ts';
import { connectBus } from '../connect-bus.ts';
import { type EventStream, streamSettings } from '../event-stream.ts';
import { problemOf } from '../room/room-report.ts';
import { createRoomWatch } from '../room/room-watch.ts';
import { webhooksConsumer } from '../room/stream-reading.ts';
import { createOutboxRelay, type OutboxRelay } from './outbox-relay.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = skipWithoutDatabase || (TEST_NATS_URL ? false : 'TEST_NATS_URL is not set');
const log = createLogger('test', 'silent');
/** How large the smallest stream is, which holds about forty of the events below. */
const maxBytes = 1024 ** 2;
const text = 'x'.repeat(25_000);

describe('a full event stream', { skip }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  let bus: Bus;
  let stream: EventStream;
  let keptFor: string[];
  const relays: OutboxRelay[] = [];

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    bus = connectBus({ urls: TEST_NATS_URL, name: 'test', log });
    await eventually(() => bus.connected);
  });
  beforeEach(() => {
    const suffix = newId().slice(-12);
    stream = { name: `FULL_${suffix}`, prefix: `full-${suffix}`, maxBytes };
    keptFor = [];
  });
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    await (await bus[nats].jetstreamManager()).streams.delete(stream.name).catch(() => {});
    await database.query({ text: 'delete from system.outbox', values: [] });
  });
  after(async () => {
    await bus.close();
    await temporary.remove();
  });

  function startRelay(): OutboxRelay {
    const relay = createOutboxRelay({ database, bus, log, stream, keptFor: () => keptFor });
    relays.push(relay);
    relay.start();
    return relay;
  }

  /** Inserts events as commits do, and returns their ids. */
  async function write(count: number, collection = 'posts', records = 1): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId());
    await database.query({
      text: `insert into system.outbox (event_id, event, record_key, body)
        select id::uuid, $3 || '.create', $3 || '/' || place % $4, jsonb_build_object('id', id, 'text', $2::text)::text
        from unnest($1::text[]) with ordinality as given (id, place) order by place`,
      values: [ids, text, collection, records],
    });
    for (const relay of relays) relay.wake();
    return ids;
  }

  const waiting = async () => {
    const [row] = await database.query<{ count: number }>({
      text: 'select count(*) from system.outbox where published_at is null',
      values: [],
    });
    return row?.count ?? 0;
  };
  const allPublished = () => eventually(async () => (await waiting()) === 0);
  const stateOf = async () => (await (await bus[nats].jetstreamManager()).streams.info(stream.name)).state;

  /** Waits until the relay has seen the full stream and left events in the outbox. */
  async function untilRelayWaits(): Promise<void> {
    const watch = createRoomWatch({ bus, stream, keptFor: () => keptFor });
    await eventually(async () => (await waiting()) > 0 && (await stateOf()).bytes > maxBytes * 0.8);
    await eventually(async () => /is full and events wait in the outbox/.test(problemOf(await watch.report()) ?? ''));
  }

  async function addConsumer(name: string, subject = `${stream.prefix}.>`): Promise<Consumer> {
    const { consumers } = await bus[nats].jetstreamManager();
    await consumers.add(stream.name, {
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      filter_subject: subject,
      max_ack_pending: 10,
    });
    return bus[nats].jetstream().consumers.get(stream.name, name);
  }

  /** Reads and acknowledges until nothing is left, and returns the ids in order. */
  async function readAll(consumer: Consumer, seen: string[] = [], most = 1000): Promise<string[]> {
    for (let left = 1; left > 0 && seen.length < most; ) {
      const messages = await consumer.fetch({ max_messages: Math.min(5, most - seen.length), expires: 1000 });
      for await (const message of messages) {
        seen.push(message.json<{ id: string }>().id);
        await message.ackAck();
      }
      const info = await consumer.info();
      left = info.num_pending + info.num_ack_pending;
    }
    return seen;
  }

  /** Reads events as they arrive, until all of these were read. */
  async function follow(consumer: Consumer, ids: readonly string[], seen: string[] = []): Promise<string[]> {
    await eventually(async () => (await readAll(consumer, seen)).length >= ids.length);
    return seen;
  }

  it('drops the oldest read events and continues', async () => {
    startRelay();
    const written = await write(1);
    await allPublished();
    const webhooks = await addConsumer(webhooksConsumer);
    const seen: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      written.push(...(await write(20)));
      await follow(webhooks, written, seen);
    }
    assert.deepEqual(seen, written);
    const { first_seq, last_seq } = await stateOf();
    assert.equal(last_seq, written.length);
    assert.ok(first_seq > 60, `the stream begins with ${first_seq}`);
  });

  it('waits for a stopped consumer, whichever relay publishes, and continues after its reads', async () => {
    startRelay();
    const written = await write(1);
    await allPublished();
    const webhooks = await addConsumer(webhooksConsumer);
    written.push(...(await write(100)));
    await untilRelayWaits();
    assert.equal((await stateOf()).first_seq, 1);
    // Another replica takes over while the stream is full.
    startRelay();
    await relays[0]?.stop();
    const seen = await readAll(webhooks, [], 10);
    written.push(...(await write(10)));
    await eventually(async () => (await stateOf()).first_seq > 1);
    assert.ok((await stateOf()).first_seq <= 11, 'no unread event is dropped');
    assert.deepEqual(await follow(webhooks, written, seen), written);
    await allPublished();
  });

  it('several relays together drop no unread event [events §3.6]', async () => {
    for (let count = 0; count < 3; count += 1) startRelay();
    const written = await write(1);
    await allPublished();
    const webhooks = await addConsumer(webhooksConsumer);
    const seen: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      written.push(...(await write(40, 'posts', 40)));
      await readAll(webhooks, seen, seen.length + 9);
      if (round === 3) await relays.pop()?.stop();
    }
    await follow(webhooks, written, seen);
    assert.deepEqual(seen.sort(), written.sort());
    await allPublished();
  });

  it('waits for a slow consumer, even after a restart', async () => {
    startRelay();
    const written = await write(1);
    await allPublished();
    const [webhooks, slow] = [await addConsumer(webhooksConsumer), await addConsumer('extension-shop-orders-create')];
    const [seen, seenSlowly]: [string[], string[]] = [[], []];
    for (let round = 0; round < 8; round += 1) {
      written.push(...(await write(20)));
      for (const relay of relays.splice(0)) await relay.stop();
      startRelay();
      await readAll(webhooks, seen);
      await readAll(slow, seenSlowly, seenSlowly.length + 7);
    }
    await Promise.all([follow(webhooks, written, seen), follow(slow, written, seenSlowly)]);
    assert.deepEqual(seen, written);
    assert.deepEqual(seenSlowly, written);
  });

  it('waits for a consumer that an admin named, until its name is removed', async () => {
    keptFor = ['crm'];
    startRelay();
    const written = await write(1);
    await allPublished();
    const webhooks = await addConsumer(webhooksConsumer);
    const seen: string[] = [];
    written.push(...(await write(100)));
    await eventually(async () => {
      await readAll(webhooks, seen);
      return seen.length > 20;
    });
    await untilRelayWaits();
    const report = await createRoomWatch({ bus, stream, keptFor: () => keptFor }).report();
    assert.match(problemOf(report) ?? '', /the consumer crm does not exist .*events\.kept_for/);
    const crm = await addConsumer('crm');
    assert.deepEqual((await readAll(crm, [], 5)).sort(), written.slice(0, 5).sort());
    keptFor = [];
    assert.deepEqual(await follow(webhooks, written, seen), written);
    await allPublished();
  });

  it('does not wait for an unnamed consumer, or for one that has read everything', async () => {
    keptFor = ['rare'];
    startRelay();
    const written = await write(1, 'rare');
    await allPublished();
    const webhooks = await addConsumer(webhooksConsumer);
    const rare = await addConsumer('rare', `${stream.prefix}.rare.*`);
    await addConsumer('stranger');
    assert.equal((await readAll(rare)).length, 1);
    written.push(...(await write(120)));
    assert.deepEqual(await follow(webhooks, written), written);
    await allPublished();
    assert.ok((await stateOf()).first_seq > 60);
  });

  it("migrates the previous version's full stream without losing an event", async () => {
    const { streams } = await bus[nats].jetstreamManager();
    await streams.add({
      ...streamSettings(stream),
      name: stream.name,
      discard: DiscardPolicy.New,
      max_bytes: maxBytes,
    });
    const webhooks = await addConsumer(webhooksConsumer);
    const before: string[] = [];
    const publish = (id: string) =>
      bus[nats].jetstream().publish(`${stream.prefix}.posts.create`, JSON.stringify({ id, text }));
    for (let isFull = false; !isFull; ) {
      const id = newId();
      isFull = await publish(id).then(
        () => false,
        () => true,
      );
      if (!isFull) before.push(id);
    }
    startRelay();
    const written = [...before, ...(await write(30))];
    await untilRelayWaits();
    assert.equal((await stateOf()).first_seq, 1);
    assert.deepEqual(await follow(webhooks, written), written);
    await allPublished();
    assert.ok((await stateOf()).first_seq > 1);
  });

  it('shrinks a stream only up to its unread events', async () => {
    stream = { ...stream, maxBytes: 4 * maxBytes };
    startRelay();
    const written = await write(1);
    await allPublished();
    const webhooks = await addConsumer(webhooksConsumer);
    written.push(...(await write(80)));
    await allPublished();
    await relays.pop()?.stop();
    stream = { ...stream, maxBytes };
    startRelay();
    written.push(...(await write(1)));
    assert.deepEqual(await follow(webhooks, written), written);
    await relays.pop()?.stop();
    startRelay();
    await eventually(async () => (await stateOf()).bytes <= maxBytes);
  });

  it('publishes events that are too large for the stream as references', async () => {
    startRelay();
    const id = newId();
    await database.query({
      text: `insert into system.outbox (event_id, event, record_key, body)
        select $1::uuid, 'posts.create', 'posts/1', jsonb_build_object('id', $1::text, 'event', 'posts.create',
          'timestamp', 1, 'data', json_build_object('text', repeat('y', 200000)),
          'actor', json_build_object('type', 'guest', 'id', null), 'request_id', null)::text`,
      values: [id],
    });
    relays[0]?.wake();
    await allPublished();
    assert.ok((await stateOf()).bytes < 5000, 'the event is published as a reference');
  });
});
