import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import { type Database, newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { type Bus, nats } from '../bus.ts';
import { connectBus } from '../connect-bus.ts';
import { envelope, envelopeSql } from '../envelope.ts';
import { type EventStream, ensureEventStream, eventStream } from '../event-stream.ts';
import { createOutboxRelay, type OutboxRelay } from './outbox-relay.ts';
import { lastPublished, removePublished } from './outbox-store.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = skipWithoutDatabase || (TEST_NATS_URL ? false : 'TEST_NATS_URL is not set');
const log = createLogger('test', 'silent');

interface Message {
  readonly id: string;
  readonly event: string;
  readonly sequence: number;
  readonly body: string;
  header(name: string): string | undefined;
}

/** Returns the bus with a step between the server's answer about a stream and its use. */
function withLateInfo(bus: Bus, step: (info: StreamInfo) => Promise<void>): Bus {
  const late = async (manager: JetStreamManager, name: string) => {
    const info = await manager.streams.info(name);
    await step(info);
    return info;
  };
  const jetstreamManager = async () => {
    const manager = await bus[nats].jetstreamManager();
    const streams = Object.create(manager.streams, { info: { value: (name: string) => late(manager, name) } });
    return Object.create(manager, { streams: { value: streams } });
  };
  return Object.create(bus, { [nats]: { value: { ...bus[nats], jetstreamManager } } });
}

describe('the outbox relay', { skip }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  let bus: Bus;
  let stream: EventStream;
  const relays: OutboxRelay[] = [];

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    bus = connectBus({ urls: TEST_NATS_URL, name: 'test', log });
    const suffix = newId().slice(-12);
    stream = { ...eventStream, name: `OUTBOX_${suffix}`, prefix: `outbox-${suffix}`, maxBytes: 64 * 1024 ** 2 };
    await eventually(() => bus.connected);
  });
  after(async () => {
    await Promise.all(relays.map((relay) => relay.stop()));
    await deleteStream().catch(() => {});
    await bus.close();
    await temporary.remove();
  });

  const deleteStream = async () => (await bus[nats].jetstreamManager()).streams.delete(stream.name);

  function startRelay(itsBus = bus): OutboxRelay {
    const relay = createOutboxRelay({ database, bus: itsBus, log, stream });
    relays.push(relay);
    relay.start();
    return relay;
  }

  /** Each relay's partitions, if it holds some. */
  const holders = async () => {
    const rows = await database.query<{ holder: string; held: number }>({
      text: `select holder, count(*)::integer as held from system.leases
        where expires_at > clock_timestamp() and name like '% of 8' group by holder`,
      values: [],
    });
    return new Map(rows.map(({ holder, held }) => [holder, held]));
  };
  const shares = async () => [...(await holders()).values()];

  async function write(event: string, recordKey: string | null, data = '{}'): Promise<string> {
    const id = newId();
    const body = envelopeSql({
      id: '$1',
      event: '$2',
      timestamp: '1700000000',
      data: '$4::json',
      actorType: `'guest'`,
      actorId: 'null',
      requestId: 'null',
    });
    await database.query({
      text: `insert into system.outbox (event_id, event, record_key, body, traceparent)
        values ($1::uuid, $2, $3, ${body}, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00')`,
      values: [id, event, recordKey, data],
    });
    return id;
  }

  async function messages(): Promise<Message[]> {
    const { streams } = await bus[nats].jetstreamManager();
    const { state } = await streams.info(stream.name);
    const found: Message[] = [];
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
      const message = await streams.getMessage(stream.name, { seq });
      if (!message) continue;
      const { id, event } = JSON.parse(message.string());
      const header = (name: string) => message.header.get(name) || undefined;
      found.push({ id, event, sequence: seq, body: message.string(), header });
    }
    return found;
  }

  const unpublished = async () => {
    const [row] = await database.query<{ count: number }>({
      text: 'select count(*) from system.outbox where published_at is null and parked_at is null',
      values: [],
    });
    return row?.count ?? 0;
  };

  it('publishes committed events with their headers [events §2.2]', async () => {
    const relay = startRelay();
    await eventually(async () => String(await shares()) === '8');
    const id = await write('posts.create', 'posts/1');
    relay.wake();
    await eventually(async () => (await unpublished()) === 0);
    const message = (await messages()).find((one) => one.id === id);
    assert.equal(message?.header('Nats-Msg-Id'), id);
    assert.equal(message.header('Service-Event-Version'), '1');
    assert.equal(message.header('Service-Event'), 'posts.create');
    assert.equal(message.header('ce-subject'), 'posts/1');
    assert.equal(message.header('traceparent'), '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00');
    assert.ok(envelope.parse(JSON.parse(message.body)));
  });

  it("replicas divide the partitions, and take over a stopped replica's share [events §3.6]", async () => {
    const second = startRelay();
    await eventually(async () => String(await shares()) === '4,4');
    const ids = await Promise.all(Array.from({ length: 40 }, (_, record) => write('posts.update', `posts/${record}`)));
    for (const relay of relays) relay.wake();
    await eventually(async () => (await unpublished()) === 0);
    const published = (await messages()).map((message) => message.id);
    assert.equal(published.filter((id) => ids.includes(id)).length, ids.length);
    await relays[0]?.stop();
    await eventually(async () => String(await shares()) === '8');
    const more = await Promise.all(Array.from({ length: 40 }, (_, record) => write('posts.update', `posts/${record}`)));
    second.wake();
    await eventually(async () => (await unpublished()) === 0);
    const all = (await messages()).map((message) => message.id);
    assert.equal(all.filter((id) => more.includes(id)).length, more.length);
  });

  it('a relay that joins while another one publishes finds no loss [events §3.3]', async () => {
    const { life } = await ensureEventStream(bus, stream);
    const ids: string[] = [];
    /** Holds the first answer about the stream until the other relay has published more. */
    const behind = withLateInfo(bus, async ({ state }) => {
      if (ids.length > 0) return;
      for (let record = 0; record < 40; record += 1) ids.push(await write('posts.update', `posts/${record}`));
      await eventually(async () => {
        relays.at(-2)?.wake();
        return (await lastPublished(database.query)) > state.last_seq;
      });
    });
    const joined = startRelay(behind);
    await eventually(async () => {
      joined.wake();
      return ids.length === 40 && (await unpublished()) === 0;
    });
    assert.equal((await ensureEventStream(bus, stream)).life, life);
    await joined.stop();
    relays.pop();
  });

  it("keeps a record's events in order and loses none while relays start and stop", async () => {
    const expected = new Map<string, string[]>();
    for (let round = 0; round < 40; round += 1) {
      if (round % 10 === 5) startRelay();
      if (round % 10 === 9) await relays.at(-2)?.stop();
      const written = await Promise.all(
        ['a', 'b', 'c', 'd'].map(async (record) => [record, await write('notes.update', `notes/${record}`)] as const),
      );
      for (const [record, id] of written) expected.set(record, [...(expected.get(record) ?? []), id]);
      relays.at(-1)?.wake();
    }
    await eventually(async () => (await unpublished()) === 0);
    const published = (await messages()).map(({ id }) => id);
    for (const ids of expected.values()) {
      assert.deepEqual(
        published.filter((id) => ids.includes(id)),
        ids,
      );
    }
  });

  it('publishes an event that is too large for a message as a reference', async () => {
    const id = await write('posts.create', 'posts/large', JSON.stringify({ text: 'é'.repeat(600_000) }));
    const next = await write('posts.update', 'posts/large');
    relays.at(-1)?.wake();
    await eventually(async () => (await unpublished()) === 0);
    const found = await messages();
    const large = envelope.parse(JSON.parse(found.find((message) => message.id === id)?.body ?? ''));
    assert.equal(large.data, null);
    assert.equal(large.reference?.id, id);
    assert.ok(found.some((message) => message.id === next));
    const kept = await database.query<{ body: string }>({
      text: 'select body from system.large_events where id = $1',
      values: [id],
    });
    assert.ok(JSON.parse(kept[0]?.body ?? '').data.text.length === 600_000);
  });

  it('parks an event that cannot be published and continues with the others', async () => {
    const bad = newId();
    await database.query({
      text: `insert into system.outbox (event_id, event, record_key, body)
        values ($1, 'posts.create', 'posts/bad', repeat('x', 2000000))`,
      values: [bad],
    });
    const good = await write('posts.create', 'posts/bad');
    await eventually(async () => {
      relays.at(-1)?.wake();
      return (await messages()).some((message) => message.id === good);
    });
    const rows = await database.query<{ failures: number; error: string }>({
      text: 'select failures, error from system.outbox where event_id = $1 and parked_at is not null',
      values: [bad],
    });
    assert.equal(rows[0]?.failures, 5);
    assert.match(rows[0]?.error ?? '', /JSON/);
  });

  it("publishes a deleted stream's events again", async () => {
    const before = (await messages()).map(({ id }) => id);
    await deleteStream();
    const id = await write('posts.create', 'posts/after');
    relays.at(-1)?.wake();
    await eventually(async () => {
      const now = await messages().catch(() => []);
      return [...before, id].every((one) => now.some((message) => message.id === one));
    });
  });

  it('publishes lost events again after another client has recreated the stream', async () => {
    const before = (await messages()).map(({ id }) => id);
    await deleteStream();
    const { life: made } = await ensureEventStream(bus, stream);
    const id = await write('posts.create', 'posts/again');
    relays.at(-1)?.wake();
    await eventually(async () => {
      const now = (await messages()).map((message) => message.id);
      return [...before, id].every((one) => now.includes(one));
    });
    assert.equal(new Set((await messages()).map((message) => message.id)).size, before.length + 1);
    assert.ok((await ensureEventStream(bus, stream)).life > made);
  });

  it('keeps published events for the grace period, then removes them', async () => {
    const age = (id: string, minutes: number) =>
      database.query({
        text: `update system.outbox set published_at = now() - make_interval(mins => $2) where event_id = $1`,
        values: [id, minutes],
      });
    const [young, old, waiting] = [await write('a.b', 'a/1'), await write('a.b', 'a/2'), await write('a.b', 'a/3')];
    relays.at(-1)?.wake();
    await eventually(async () => (await unpublished()) === 0);
    await age(young, 9);
    await age(old, 11);
    await database.query({
      text: 'update system.outbox set parked_at = now(), published_at = null where event_id = $1',
      values: [waiting],
    });
    assert.equal(await removePublished(database.query, 600, 1000), 1);
    const left = await database.query<{ event_id: string }>({
      text: 'select event_id from system.outbox where event_id = any($1::uuid[])',
      values: [[young, old, waiting]],
    });
    assert.deepEqual(left.map(({ event_id }) => event_id).sort(), [young, waiting].sort());
  });
});
