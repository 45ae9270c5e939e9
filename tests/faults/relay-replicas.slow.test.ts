import assert from 'node:assert/strict';
import { loadavg } from 'node:os';
import { test } from 'node:test';
import pg from 'pg';
import { type BusReader, openBusReader } from '../harness/clients/bus-reader.ts';
import { eventually } from '../harness/eventually.ts';
import { startServiceProcess } from '../harness/stacks/service-process.ts';
import { createGround, type Ground } from '../harness/stacks/stack.ts';

/** Events for each replica count: enough that their shares show. TEST_RELAY_EVENTS=50000 gives steadier figures. */
const events = Number(process.env.TEST_RELAY_EVENTS ?? 4000);
const changesOfRecord = 10;
/** Longer than a relay waits between two looks at the outbox. */
const allLookMs = 2000;

/** So many records' events, each record's changes in commit order. Values: the event's name, how many. */
const insertEvents = `insert into system.outbox (event_id, event, record_key, body)
  select id, $1, key, json_build_object('id', id, 'event', $1::text, 'key', key, 'change', change)::text
  from (select gen_random_uuid() as id, $1 || '/' || n % ($2::int / ${changesOfRecord}) as key, n / ($2::int / ${changesOfRecord}) as change
    from generate_series(0, $2::int - 1) n order by n) e`;

/** How many relays hold partitions now. */
const holders = `select count(distinct holder)::int as count from system.leases
  where name like 'outbox EVENTS % of %' and expires_at > clock_timestamp()`;

const published = `select extract(epoch from max(published_at) - min(published_at))::float as seconds,
  count(published_at)::int as count from system.outbox where event = $1`;

/** Lets a database's relays publish events that are all there at once. Returns how many seconds it takes them. */
async function publishAll(database: pg.Client, event: string): Promise<number> {
  // Every relay comes to the lock, and all go on when it ends.
  await database.query('begin');
  await database.query('lock table system.outbox in access exclusive mode');
  await database.query(insertEvents, [event, events]);
  await database.query(`select pg_sleep(${allLookMs / 1000})`);
  await database.query('commit');
  return eventually(
    `${events} events are published`,
    async () => {
      const { rows } = await database.query<{ seconds: number; count: number }>(published, [event]);
      return rows[0]?.count === events ? rows[0].seconds : undefined;
    },
    { timeoutMs: 120_000, intervalMs: 200 },
  );
}

async function clientOf({ databaseUrl }: Ground): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  return client;
}

/** Checks that the stream has each event once, and each record's events in commit order. */
async function checkOrder({ events: read }: BusReader, event: string): Promise<void> {
  const ofTest = () => read.filter(({ body }) => body.event === event);
  await eventually('the reader has all events', () => ofTest().length >= events);
  const changes = new Map<unknown, unknown[]>();
  for (const { body } of ofTest()) changes.set(body.key, [...(changes.get(body.key) ?? []), body.change]);
  const inOrder = Array.from({ length: changesOfRecord }, (_, change) => change);
  assert.equal(changes.size, events / changesOfRecord);
  for (const [key, seen] of changes) assert.deepEqual(seen, inOrder, String(key));
}

test("one, two and four relays publish what waits, each event once and each record's events in order [events §3.6]", async (t) => {
  await using tidying = new AsyncDisposableStack();
  const ground = tidying.use(await createGround());
  const pids: number[] = [];
  for (const replicas of [1, 2, 4]) {
    while (pids.length < replicas) {
      const replica = tidying.use(await startServiceProcess('records', ground));
      pids.push(replica.process.pid);
    }
    await t.test(`${replicas} relays`, async () => {
      const database = await clientOf(ground);
      await using reader = await openBusReader(ground.bus.url);
      try {
        const relays = async () => (await database.query<{ count: number }>(holders)).rows[0]?.count;
        await eventually(`${replicas} relays hold partitions`, async () => (await relays()) === replicas);
        const event = `things${replicas}.update`;
        const seconds = await publishAll(database, event);
        const load = loadavg()[0]?.toFixed(1);
        t.diagnostic(`${replicas} relays: ${Math.round(events / seconds)} events/s, at a load of ${load}`);
        await checkOrder(reader, event);
        assert.equal(await relays(), replicas, 'every relay still has its share');
      } finally {
        await database.end();
      }
    });
  }
});
