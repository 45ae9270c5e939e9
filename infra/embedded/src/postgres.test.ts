import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLogger } from '@recordbus/shared/logging';
import { Client } from 'pg';
import { startPostgres } from './postgres.ts';
import { findProcess } from './process-identity.ts';
import { startInProcessThat } from './short-lived-process.testing.ts';
import { until } from './until.ts';

const log = createLogger('test', 'silent');
const base = await mkdtemp(join(tmpdir(), 'postgres-'));
const directory = join(base, 'postgres');
const settings = { fsync: 'off' };
after(() => rm(base, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  // The server goes down under some of these connections.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

// One cluster goes through its life in this order.

test('the first start makes a database, whatever an interrupted one left', async () => {
  await mkdir(join(directory, 'cluster.new', 'base'), { recursive: true });
  const server = await startPostgres({ directory, log, settings });
  try {
    assert.deepEqual(await query(server.url, 'select current_database()'), ['recordbus']);
    assert.deepEqual(await query(server.url, `select 'Élan' ilike 'éL%', lower('ÄÖÜ'), upper('é')`), [
      true,
      'äöü',
      'É',
    ]);
    assert.deepEqual(await query(server.url, 'create table kept as select 42 as value'), []);
  } finally {
    await server.stop();
  }
});

test('only 127.0.0.1 with the generated password gets in, and only the owner can read it', async () => {
  const server = await startPostgres({ directory, log, settings });
  try {
    const { hostname, password } = new URL(server.url);
    assert.equal(hostname, '127.0.0.1');
    await assert.rejects(query(server.url.replace(password, 'wrong'), 'select 1'), /password authentication failed/);
    assert.equal((await stat(join(directory, 'password'))).mode & 0o777, 0o600);
    assert.deepEqual(await query(server.url, 'show unix_socket_directories'), ['']);
  } finally {
    await server.stop();
  }
});

test('a later start finds its data and takes less than two seconds', async () => {
  const startedAtMs = performance.now();
  const server = await startPostgres({ directory, log, settings });
  const tookMs = performance.now() - startedAtMs;
  try {
    assert.deepEqual(await query(server.url, 'select value from kept'), [42]);
    assert.ok(tookMs < 2_000, `took ${tookMs} ms`);
  } finally {
    await server.stop();
  }
  assert.equal(findProcess(server.pid), undefined);
});

test('a crash is told in a sentence with the last lines, and the next start recovers', async () => {
  const server = await startPostgres({ directory, log, settings });
  process.kill(server.pid, 'SIGKILL');
  assert.match(await server.exited, /^PostgreSQL was ended by SIGKILL\. The last lines of .*postgresql\.log:\n/);
  await server.stop();
  const next = await startPostgres({ directory, log, settings });
  assert.deepEqual(await query(next.url, 'select value from kept'), [42]);
  await next.stop();
});

test('a stack that just exits takes its server along', async () => {
  const pid = await startInProcessThat('exits', 'postgres.ts', 'startPostgres', directory);
  assert.ok(await until(10_000, async () => findProcess(pid) === undefined || undefined));
});

test('a server that a killed stack left behind is stopped before the next one starts', async () => {
  const leftoverPid = await startInProcessThat('killed', 'postgres.ts', 'startPostgres', directory);
  assert.ok(findProcess(leftoverPid), 'it outlives the process that started it');
  const server = await startPostgres({ directory, log, settings });
  assert.equal(findProcess(leftoverPid), undefined);
  assert.deepEqual(await query(server.url, 'select value from kept'), [42]);
  await server.stop();
});

test('a start that fails quotes what the server said', async () => {
  const failing = startPostgres({ directory, log, settings: { ...settings, shared_buffers: 'plenty' } });
  await assert.rejects(failing, /PostgreSQL ended with exit code 1\..*invalid value for parameter "shared_buffers"/s);
});

test('a log that has grown long is put aside at the next start', async () => {
  const file = join(directory, 'postgresql.log');
  await writeFile(file, Buffer.alloc(6 * 1024 * 1024, '\n'));
  const server = await startPostgres({ directory, log, settings });
  await server.stop();
  assert.ok((await stat(file)).size < 100_000);
  assert.match(await readFile(file, 'utf8'), /ready to accept connections/);
});
