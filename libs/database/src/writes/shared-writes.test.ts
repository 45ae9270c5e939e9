import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { RequestContext } from '@recordbus/shared/context';
import { createLogger } from '@recordbus/shared/logging';
import { inRequest } from '@recordbus/shared/request-scope';
import pg from 'pg';
import { type Database, openDatabase } from '../database.ts';
import { createTemporaryDatabase, skipWithoutDatabase } from '../temporary-database.ts';

interface Written {
  readonly n: number;
  readonly xid: string;
}

const insert = (n: number, name = 'insert') => ({
  name,
  text: `insert into notes (n) values ($1) returning n, pg_current_xact_id()::text as xid /* ${name} */`,
  values: [n],
});
const change = (n: number) => ({
  name: 'change',
  text: 'update notes set n = n where n = $1 returning n, pg_current_xact_id()::text as xid',
  values: [n],
});
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

/** Runs work as a guest at an address. */
const asClient = <T>(clientAddress: string, work: () => Promise<T>): Promise<T> =>
  inRequest(
    {
      requestId: 'r',
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`,
      principal: { type: 'guest', rejectedToken: false },
      clientAddress,
    } satisfies RequestContext,
    work,
  );

describe('writes that share commits', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let url = '';
  let holder: pg.Client;
  let end = async () => {};
  let names = 0;
  let taught = 0;
  before(async () => {
    const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
    url = temporary.url;
    database = await openDatabase({ url, name: 'test', log: createLogger('test', 'silent') });
    await database.query({ text: 'create table notes (n integer unique check (n <> 666))', values: [] });
    holder = new pg.Client(url);
    await holder.connect();
    end = async () => {
      await holder.end();
      await database.close();
      await temporary.drop();
    };
  });
  after(() => end());
  beforeEach(() => database.query({ text: 'truncate notes', values: [] }));

  const write = (statement: ReturnType<typeof insert>) => database.write<Written>(statement);

  /** Runs a statement until its runs share commits: one of them took hardly longer than the quickest write. */
  async function learn(statement: () => ReturnType<typeof insert>): Promise<void> {
    for (let runs = 20; ; ) {
      const once = () => asClient('10.9.0.1', () => write(statement()));
      const rows = await Promise.all(Array.from({ length: runs }, once));
      if (new Set(rows.map(([row]) => row?.xid)).size < runs) return;
    }
  }
  const stored = async () => {
    const rows = await database.query<{ n: number }>({
      text: 'select n from notes where n >= 0 order by n',
      values: [],
    });
    return rows.map(({ n }) => n);
  };
  /** Inserts with a name of its own, so that no test depends on what another one taught. */
  async function quickInsert(): Promise<(n: number) => ReturnType<typeof insert>> {
    names += 1;
    const name = `insert ${names}`;
    await learn(() => {
      taught -= 1;
      return insert(taught, name);
    });
    return (n) => insert(n, name);
  }

  test('have fewer transactions than statements, and each gets its own rows', async () => {
    const quick = await quickInsert();
    const rows = await Promise.all(numbers(0, 60).map((n) => write(quick(n))));
    assert.deepEqual(
      rows.map(([row]) => row?.n),
      numbers(0, 60),
    );
    assert.ok(new Set(rows.map(([row]) => row?.xid)).size < 30);
    assert.deepEqual(await stored(), numbers(0, 60));
  });

  test('are written where another one is refused, whose client has its own commits for a while', async () => {
    const quick = await quickInsert();
    const others = numbers(0, 20).map((n) => asClient('10.0.0.1', () => write(quick(n))));
    const refused = asClient('10.0.0.2', () => write(quick(666)));
    await assert.rejects(refused, { code: '23514' });
    await Promise.all(others);
    assert.deepEqual(await stored(), numbers(0, 20));
    const apart = numbers(100, 20).map((n) => asClient('10.0.0.2', () => write(quick(n))));
    const xids = (await Promise.all(apart)).map(([row]) => row?.xid);
    assert.equal(new Set(xids).size, 20);
  });

  test('with equal unique values: one is written', async () => {
    const quick = await quickInsert();
    const results = await Promise.allSettled([...numbers(0, 10), 5, 5].map((n) => write(quick(n))));
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 2);
    assert.deepEqual(await stored(), numbers(0, 10));
  });

  test('wait for no lock of another one', async () => {
    const quick = await quickInsert();
    await write(quick(0));
    await learn(() => change(0));
    await holder.query('begin');
    await holder.query('select from notes where n = 0 for update');
    const held = asClient('10.0.0.3', () => write(change(0)));
    const others = numbers(1, 20).map((n) => asClient('10.0.0.4', () => write(quick(n))));
    await Promise.all(others);
    await holder.query('commit');
    assert.deepEqual((await held)[0]?.n, 0);
    assert.deepEqual(await stored(), numbers(0, 21));
  });

  test('fail together when their connection is lost', async () => {
    const quick = await quickInsert();
    await holder.query('begin');
    await holder.query('lock table notes in exclusive mode');
    const writes = Promise.allSettled(numbers(0, 8).map((n) => write(quick(n))));
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    while ((await holder.query(kill)).rowCount === 0);
    await holder.query('rollback');
    const failed = (await writes).filter(({ status }) => status === 'rejected').length;
    assert.ok(failed > 0);
    assert.equal((await stored()).length, 8 - failed);
    assert.deepEqual((await write(quick(100)))[0]?.n, 100);
  });
});
