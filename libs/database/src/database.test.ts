import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { createClassMeters } from './connections/class-meter.ts';
import { ReadLane } from './connections/read-lane.ts';
import { type Database, openDatabase } from './database.ts';
import { isConnectionError } from './errors.ts';
import { connectProbe } from './servers/connect-probe.ts';
import type { Query } from './statement.ts';
import { createTemporaryDatabase, skipWithoutDatabase } from './temporary-database.ts';

/** Opens a database with one connection, which is given up after this silence. */
async function openImpatient(silenceMs: number) {
  const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
  const log = createLogger('test', 'silent');
  const database = await openDatabase({ url: temporary.url, name: 'test', log, maxConnections: 1, silenceMs });
  const end = async () => {
    await database.close();
    await temporary.drop();
  };
  return { database, url: temporary.url, end };
}

test('a server that takes connections and says nothing is a connection error', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    await assert.rejects(
      connectProbe({ url: `postgres://me@127.0.0.1:${port}/test`, name: 'test' }),
      isConnectionError,
    );
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

describe('a silent database', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let url: string;
  let end = async () => {};
  before(async () => {
    ({ database, url, end } = await openImpatient(1000));
  });
  after(() => end());
  const sleep = (seconds: number) => ({ text: 'select pg_sleep($1)', values: [seconds] });
  const one = { text: 'select 1 as n', values: [] };

  for (const name of ['read', 'query'] as const)
    test(`fails a statement at its time limit, and later ones succeed: ${name}`, async () => {
      await assert.rejects(database[name](sleep(60)), isConnectionError);
      // On a busy machine, an answer may take longer than the silence.
      assert.deepEqual(await eventually(() => database[name](one)), [{ n: 1 }]);
    });

  test('is sent a read only once', async () => {
    await eventually(() => database.query({ text: 'create sequence if not exists read_count', values: [] }));
    const connection = { connectionString: url, query_timeout: 1000 };
    const [log, meterOf] = [createLogger('test', 'silent'), createClassMeters(undefined)];
    const lane = new ReadLane({ connection, size: 1, maxUnderWay: 10, log, meterOf, work: 'gets' });
    try {
      const slow = { text: "select nextval('read_count'), pg_sleep(60)", values: [] };
      await assert.rejects(lane.read(slow), isConnectionError);
    } finally {
      await lane.close();
    }
    const readCount = { text: 'select last_value::int as times from read_count', values: [] };
    assert.deepEqual(await eventually(() => database.query(readCount)), [{ times: 1 }]);
  });

  test("has a transaction's whole statement time", async () => {
    await database.transaction(async (query) => {
      await query(sleep(1.2));
      assert.deepEqual(await query(one), [{ n: 1 }]);
    });
  });
});

describe('a pooled connection', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let end = async () => {};
  before(async () => {
    ({ database, end } = await openImpatient(5000));
  });
  after(() => end());
  const pidOf = async (query: Query): Promise<number> => {
    const [row] = await query<{ pid: number }>({ text: 'select pg_backend_pid() as pid', values: [] });
    return row?.pid ?? 0;
  };

  test('is used again after a refused statement, but not after silence', async () => {
    const first = await pidOf(database.query);
    await assert.rejects(database.query({ text: 'select 1 / 0', values: [] }), /division by zero/);
    assert.equal(await pidOf(database.query), first);
    await assert.rejects(database.query({ text: 'select pg_sleep(60)', values: [] }), isConnectionError);
    assert.notEqual(await pidOf(database.query), first);
  });

  test('writes in each class', async () => {
    for (const name of ['writes', 'relaxedWrites', 'signIn', 'admin', 'background'] as const)
      assert.deepEqual(await database.of(name).write({ text: 'select 1 as n', values: [] }), [{ n: 1 }], name);
  });

  test('fails only its transaction when it is lost between two statements', async () => {
    const lost = database.transaction(async (query) => {
      await database.read({ text: 'select pg_terminate_backend($1, 10000)', values: [await pidOf(query)] });
      await pidOf(query);
    });
    await assert.rejects(lost, isConnectionError);
    assert.ok((await pidOf(database.query)) > 0);
  });
});
