import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { Client } from 'pg';
import { sharedBuffersFor, startPostgres } from './postgres.ts';
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
  // The server ends while some connections are open.
  client.on('error', () => {});
  await client.connect();
  try {
    const answers = [await client.query<unknown[]>({ text, rowMode: 'array' })].flat();
    return answers.flatMap(({ rows }) => rows).flat();
  } finally {
    await client.end();
  }
}

/** Returns the superuser's URL, as which services never connect. */
async function asSuperuser(url: string): Promise<string> {
  const password = (await readFile(join(directory, 'password'), 'utf8')).trim();
  return Object.assign(new URL(url), { username: 'recordbus', password }).href;
}

// The tests run in order on one cluster.

test('the first start creates a database, even after an interrupted start', async () => {
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

test('only this machine with the generated password can connect, and only the owner can read it', async () => {
  const server = await startPostgres({ directory, log, settings });
  try {
    const { hostname, password } = new URL(server.url);
    assert.equal(hostname, '127.0.0.1');
    await assert.rejects(query(server.url.replace(password, 'wrong'), 'select 1'), /password authentication failed/);
    assert.equal((await stat(join(directory, 'password'))).mode & 0o777, 0o600);
    const show = 'select current_setting($$listen_addresses$$), inet_server_addr()';
    assert.deepEqual(await query(await asSuperuser(server.url), show), ['127.0.0.1', null]);
    const byTcp = Object.assign(new URL(server.url), { search: '' }).href;
    assert.deepEqual(await query(byTcp, 'select host(inet_server_addr())'), ['127.0.0.1']);
  } finally {
    await server.stop();
  }
});

test("the services connect as the database's owner, not a superuser [encryption §6.1]", async () => {
  const server = await startPostgres({ directory, log, settings });
  try {
    assert.deepEqual(
      await query(
        server.url,
        `select rolname, rolsuper, rolcreaterole, pg_has_role('recordbus_reader', 'member'), pg_get_userbyid(datdba)::text
         from pg_roles, pg_database where rolname = current_user and datname = current_database()`,
      ),
      ['recordbus_owner', false, false, true, 'recordbus_owner'],
    );
    await assert.rejects(query(server.url, "select pg_read_file('/etc/passwd')"), /permission denied/);
    assert.equal((await stat(join(directory, 'owner_password'))).mode & 0o777, 0o600);
  } finally {
    await server.stop();
  }
});

test('objects that services once created as the superuser are transferred to the owner', async () => {
  const before = await startPostgres({ directory, log, settings });
  await query(
    await asSuperuser(before.url),
    `create schema system; create schema records; create schema history; create schema links; create schema search;
     create table records.a (id int generated always as identity, s serial, t text) partition by range (id);
     create table records.a1 partition of records.a for values from (0) to (10);
     create view records.v as select * from records.a; create sequence system.n;
     create function system.f() returns int language sql as 'select 1';
     create type system.pair as (x int, y int); create domain system.short as text;
     create extension pg_trgm schema records;
     create index on records.a using gin (t records.gin_trgm_ops)`,
  );
  await before.stop();
  const server = await startPostgres({ directory, log, settings });
  try {
    const owned = `select distinct pg_get_userbyid(relowner)::text from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname in ('system', 'records', 'history', 'links', 'search') union select pg_get_userbyid(nspowner)::text from pg_namespace
      where nspname in ('system', 'records', 'history', 'links', 'search')`;
    assert.deepEqual(await query(server.url, owned), ['recordbus_owner']);
    await query(
      server.url,
      "insert into records.a (t) values ('x'); drop schema system, records, history, links, search cascade",
    );
  } finally {
    await server.stop();
  }
});

test('a later start finds the data', async () => {
  const server = await startPostgres({ directory, log, settings });
  try {
    assert.deepEqual(await query(server.url, 'select value from kept'), [42]);
  } finally {
    await server.stop();
  }
  assert.equal(findProcess(server.pid), undefined);
});

test('a crash is reported in a sentence with the last lines, and the next start recovers', async () => {
  const server = await startPostgres({ directory, log, settings });
  process.kill(server.pid, 'SIGKILL');
  assert.match(await server.exited, /^PostgreSQL was ended by SIGKILL\. The last lines of .*postgresql\.log:\n/);
  await server.stop();
  const next = await startPostgres({ directory, log, settings });
  assert.deepEqual(await query(next.url, 'select value from kept'), [42]);
  await next.stop();
});

test('the server ends with a stack that exits without stopping it', async () => {
  const pid = await startInProcessThat('exits', 'postgres.ts', 'startPostgres', directory);
  assert.ok(await until(10_000, async () => findProcess(pid) === undefined || undefined));
});

test('a server that a killed stack left behind is stopped before the next one starts', async () => {
  const leftoverPid = await startInProcessThat('killed', 'postgres.ts', 'startPostgres', directory);
  assert.ok(findProcess(leftoverPid), 'the server outlives the process that started it');
  const server = await startPostgres({ directory, log, settings });
  assert.equal(findProcess(leftoverPid), undefined);
  assert.deepEqual(await query(server.url, 'select value from kept'), [42]);
  await server.stop();
});

test("a killed server's lock file is ignored if its pid is a zombie or another program", async () => {
  const killed = await startPostgres({ directory, log, settings });
  const lockFile = join(directory, 'cluster', 'postmaster.pid');
  const text = await readFile(lockFile, 'utf8');
  await killed.stop();
  // The parent becomes a program that never reads its child's exit code. It runs as the server's own user: PostgreSQL
  // takes no other user's processes for a server.
  const { uid, gid } = await stat(directory);
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $! ; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd: '/',
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
  try {
    const zombie = await new Promise<number>((resolve) => parent.stdout.once('data', (line) => resolve(Number(line))));
    const isGone = () => !existsSync(`/proc/${zombie}`) || /\) Z /.test(readFileSync(`/proc/${zombie}/stat`, 'utf8'));
    await until(5_000, async () => isGone() || undefined);
    for (const pid of [zombie, parent.pid, process.pid]) {
      await writeFile(lockFile, text.replace(/^\d+/, String(pid)));
      const server = await startPostgres({ directory, log, settings });
      assert.deepEqual(await query(server.url, 'select value from kept'), [42]);
      await server.stop();
    }
    assert.ok(findProcess(parent.pid ?? 0), 'the other program still runs');
  } finally {
    parent.kill('SIGKILL');
  }
});

test('a server that runs on the cluster without a note is stopped before the next one starts', async () => {
  const leftoverPid = await startInProcessThat('killed', 'postgres.ts', 'startPostgres', directory);
  await rm(join(directory, 'process.json'));
  const server = await startPostgres({ directory, log, settings });
  assert.equal(findProcess(leftoverPid), undefined);
  await server.stop();
});

test('the page cache is a quarter of the memory, from 128 MB to 1 GB', () => {
  const megabytes = [256, 1024, 2048, 65_536].map((memory) => sharedBuffersFor(memory * 2 ** 20));
  assert.deepEqual(megabytes, [128, 256, 512, 1024]);
});

test("a start that fails quotes the server's output", async () => {
  const failing = startPostgres({ directory, log, settings: { ...settings, shared_buffers: 'plenty' } });
  await assert.rejects(failing, /PostgreSQL ended with exit code 1\..*invalid value for parameter "shared_buffers"/s);
});

test('a cluster that another major version made is refused with the way out, and stays as it is', async () => {
  const file = join(directory, 'cluster', 'PG_VERSION');
  const own = await readFile(file, 'utf8');
  for (const [made, way] of [
    ['17', 'run npm run cli -- database upgrade'],
    ['16', '.*backup create.*SERVICE_DATA_DIR.*backup restore'],
  ]) {
    await writeFile(file, `${made}\n`);
    await assert.rejects(startPostgres({ directory, log, settings }), {
      name: 'ConfigError',
      message: new RegExp(
        `^PostgreSQL ${made} made the database in \\S+, and this Recordbus runs PostgreSQL ${own.trim()}: ${way}\\.$`,
      ),
    });
    assert.equal(await readFile(file, 'utf8'), `${made}\n`);
  }
  await writeFile(file, own);
  const server = await startPostgres({ directory, log, settings });
  assert.deepEqual(await query(server.url, 'select value from kept'), [42]);
  await server.stop();
});

test('a long log is rotated at the next start', async () => {
  const file = join(directory, 'postgresql.log');
  await writeFile(file, Buffer.alloc(6 * 1024 * 1024, '\n'));
  const server = await startPostgres({ directory, log, settings });
  await server.stop();
  assert.ok((await stat(file)).size < 100_000);
  assert.match(await readFile(file, 'utf8'), /ready to accept connections/);
});
