import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { inRequest } from '@recordbus/request/request-scope';
import { eventually } from '@recordbus/testing';
import pg from 'pg';
import { createClassMeters } from '../connections/class-meter.ts';
import { classOf } from '../connections/connection-budget.ts';
import { type ConnectionPool, createConnectionPool } from '../connections/connection-pool.ts';
import { startupOptions } from '../connections/session-settings.ts';
import { ownSessions } from '../connections/sessions.ts';
import type { Statement } from '../statement.ts';
import { createTemporaryDatabase, skipWithoutDatabase } from '../temporary-database.ts';
import { createSharedWrites } from './shared-writes.ts';

interface Written {
  readonly n: number;
  readonly xid: string;
}

const insert = (n: number): Statement => ({
  name: 'insert',
  text: 'insert into notes (n) values ($1) returning n, pg_current_xact_id()::text as xid',
  values: [n],
});
const change = (n: number): Statement => ({
  name: 'change',
  text: 'update notes set n = n where n = $1 returning n, pg_current_xact_id()::text as xid',
  values: [n],
  locks: `notes/${n}`,
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

function openPool(name: 'sharedWrites' | 'writes', connectionString: string): ConnectionPool {
  const { statementMs, settings = {} } = classOf(name);
  const connection = { connectionString, statement_timeout: statementMs, options: startupOptions(settings) };
  const log = createLogger('test', 'silent');
  const meterOf = createClassMeters(undefined);
  return createConnectionPool({ name, connection, sessions: ownSessions(statementMs), log, meterOf });
}

describe('writes that share commits', { skip: skipWithoutDatabase }, () => {
  let url = '';
  let holder: pg.Client;
  let shared: ConnectionPool;
  let alone: ConnectionPool;
  let write: (statement: Statement) => Promise<Written[]>;
  let tooLong: string[] = [];
  let end = async () => {};
  before(async () => {
    const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
    url = temporary.url;
    holder = new pg.Client(url);
    await holder.connect();
    await holder.query('create table notes (n integer unique check (n <> 666))');
    end = async () => {
      await holder.end();
      await temporary.drop();
    };
  });
  after(() => end());
  beforeEach(async () => {
    await holder.query('truncate notes');
    tooLong = [];
    shared = openPool('sharedWrites', url);
    alone = openPool('writes', url);
    const statements = {
      mayShare: () => true,
      noteRun() {},
      noteTooLong: ({ name = '' }: Statement) => void tooLong.push(name),
    };
    const commits = { shared: shared.placesOf('sharedWrites'), alone: alone.placesOf('writes') };
    const query = createSharedWrites(statements)(commits);
    write = (statement) => query<Written>(statement);
  });
  afterEach(() => Promise.all([shared.close(), alone.close()]));

  const stored = async () => {
    const { rows } = await holder.query<{ n: number }>('select n from notes order by n');
    return rows.map(({ n }) => n);
  };
  const xidsOf = (written: readonly Written[][]) => new Set(written.map(([row]) => row?.xid));

  test('have fewer transactions than statements, and each gets its own rows', async () => {
    const written = await Promise.all(numbers(0, 60).map((n) => write(insert(n))));
    assert.deepEqual(
      written.map(([row]) => row?.n),
      numbers(0, 60),
    );
    assert.equal(xidsOf(written).size, 4);
    assert.deepEqual(await stored(), numbers(0, 60));
  });

  test('are written if another one is refused, whose client gets separate commits for a while', async () => {
    const others = numbers(0, 20).map((n) => asClient('10.0.0.1', () => write(insert(n))));
    const refused = asClient('10.0.0.2', () => write(insert(666)));
    await assert.rejects(refused, { code: '23514' });
    await Promise.all(others);
    assert.deepEqual(await stored(), numbers(0, 20));
    const apart = numbers(100, 20).map((n) => asClient('10.0.0.2', () => write(insert(n))));
    assert.equal(xidsOf(await Promise.all(apart)).size, 20);
    assert.deepEqual(tooLong, []);
  });

  test('with equal unique values: one is written', async () => {
    const results = await Promise.allSettled([...numbers(0, 10), 5, 5].map((n) => write(insert(n))));
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 2);
    assert.deepEqual(await stored(), numbers(0, 10));
  });

  test('do not wait for a lock that another one needs', async () => {
    await write(insert(0));
    await holder.query('begin');
    await holder.query('select from notes where n = 0 for update');
    const held = asClient('10.0.0.3', () => write(change(0)));
    await Promise.all(numbers(1, 20).map((n) => asClient('10.0.0.4', () => write(insert(n)))));
    await holder.query('commit');
    assert.equal((await held)[0]?.n, 0);
    assert.deepEqual(tooLong, ['change']);
    assert.deepEqual(await stored(), numbers(0, 21));
  });

  test('to one record are in one group at a time', async () => {
    await write(insert(0));
    const changes = numbers(0, 60).map(() => write(change(0)));
    const inserts = numbers(1, 60).map((n) => write(insert(n)));
    const written = await Promise.all([...changes, ...inserts]);
    assert.deepEqual(tooLong, []);
    assert.ok(xidsOf(written.slice(0, 60)).size < 20);
  });

  test('fail together when their connection is lost', async () => {
    await holder.query('begin');
    await holder.query('lock table notes in exclusive mode');
    const writes = Promise.allSettled(numbers(0, 8).map((n) => write(insert(n))));
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    // A transaction sees the activity as it was when the transaction began, so the holder cannot check.
    await eventually(async () => (await alone.placesOf('writes').query({ text: kill, values: [] })).length > 0);
    await holder.query('rollback');
    const failed = (await writes).filter(({ status }) => status === 'rejected').length;
    assert.ok(failed > 0);
    assert.equal((await stored()).length, 8 - failed);
    assert.equal((await write(insert(100)))[0]?.n, 100);
  });
});
