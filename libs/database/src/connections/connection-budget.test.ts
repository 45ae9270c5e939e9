import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { inRequest } from '@recordbus/request/request-scope';
import { eventually } from '@recordbus/testing';
import pg from 'pg';
import { type Database, openDatabase } from '../database.ts';
import { createTemporaryDatabase, skipWithoutDatabase } from '../temporary-database.ts';
import { worksOn } from './connection-budget.ts';

/** A process's maximum. One connection asks a silent server about the others. */
const maxConnections = 60;
const maxClasses = 7;

test('a process has at most 60 connections in seven classes, however many cores there are', () => {
  for (let cores = 1; cores <= 256; cores += 1) {
    const works = Object.values(worksOn(cores));
    assert.ok(new Set(works.map(({ on }) => on)).size <= maxClasses);
    assert.ok(works.reduce((sum, { places }) => sum + places, 0) < maxConnections, `${cores} cores`);
    assert.ok(works.every(({ places }) => places >= 1));
  }
});

/** Runs work as a guest, each time at another address. */
function asAnotherClient<T>(work: () => Promise<T>): Promise<T> {
  clients += 1;
  const context: RequestContext = {
    requestId: 'r',
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`,
    principal: { type: 'guest', rejectedToken: false },
    clientAddress: `10.0.${clients >> 8}.${clients & 255}`,
  };
  return inRequest(context, work);
}
let clients = 0;

const minute = 60_000;
const sleep = { text: 'select pg_sleep(60)', values: [] };
const one = { text: 'select 1 as n', values: [] };

/** Work that clients can make as slow as they like. */
const slowWork: readonly ((database: Database, isOver: Promise<void>) => Promise<unknown>)[] = [
  ({ reads }) => reads.shaped(sleep, minute),
  ({ reads }) => reads.live(sleep, minute),
  async ({ reads }, isOver) => {
    const cursor = await reads.cursor(one, minute);
    await isOver;
    await cursor.close();
  },
  ({ query }) => query(sleep),
  ({ of }) => of('relaxedWrites').query(sleep),
];

test("clients' slow work takes no other work's place", { skip: skipWithoutDatabase }, async () => {
  const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
  const direct = new pg.Client(temporary.url);
  await direct.connect();
  const database = await openDatabase({ url: temporary.url, name: 'test', log: createLogger('test', 'silent') });
  const ofProcess = "from pg_stat_activity where datname = current_database() and application_name = 'recordbus test'";
  const count = async (condition: string): Promise<number> => {
    const { rows } = await direct.query<{ n: number }>(`select count(*)::int as n ${ofProcess} and ${condition}`);
    return rows[0]?.n ?? 0;
  };
  const over = Promise.withResolvers<void>();
  const works = worksOn(1);
  const [isSlow, exports] = ["state = 'active' and query like '%pg_sleep%'", "query like 'declare reading%'"];
  try {
    const slow = slowWork.flatMap((work) =>
      Array.from({ length: 20 }, () => asAnotherClient(() => work(database, over.promise))),
    );
    let hasEnded = false;
    void Promise.allSettled(slow).then(() => {
      hasEnded = true;
    });
    const held = works.longReads.places + works.live.places + works.writes.places;
    await eventually(async () => (await count(isSlow)) >= held && (await count(exports)) > 0);

    await Promise.all([
      database.read(one),
      database.of('signIn').query(one),
      database.of('admin').query(one),
      database.of('background').query(one),
      database.reads.get(one, minute),
      database.reads.page(one, minute),
      database.ping(),
    ]);
    assert.ok((await count(isSlow)) >= held);
    assert.ok((await count('true')) <= maxConnections);

    over.resolve();
    await eventually(async () => {
      await direct.query(`select pg_terminate_backend(pid) ${ofProcess} and ${isSlow}`);
      return hasEnded;
    });
  } finally {
    over.resolve();
    await database.close();
    await direct.end();
    await temporary.drop();
  }
});
