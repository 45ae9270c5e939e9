import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import pg from 'pg';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { endChild } from '../harness/processes/child.ts';
import { runCli } from '../harness/processes/cli.ts';
import { logLines } from '../harness/processes/logs.ts';
import {
  createDataDirectory,
  createGround,
  environmentOf,
  firstAdmin,
  readiness,
  startProduct,
  startStack,
} from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';

const settingsPath = '/api/v1/admin/settings';

async function storedPassword(databaseUrl: string): Promise<string> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query("select value from system.settings where key = 'smtp.pass'");
    return String(rows[0]?.value);
  } finally {
    await client.end();
  }
}

async function doctorOf(environment: Readonly<Record<string, string>>): Promise<string> {
  const { json } = await runCli(['doctor', '--json'], { environment });
  const findings = listAt(json, 'findings').filter(({ subject }) => subject === 'encryption key');
  return findings.map(({ verdict, says }) => `${verdict}: ${says}`).join('; ');
}

suite('the encryption key that npm start creates [encryption §3.2]', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const ground = tidying.use(await createGround());
  const environment = environmentOf(ground);
  const keyFile = join(ground.dataDirectory, 'encryption_key');

  await test('is a file that only its owner can read; it encrypts stored values, and doctor reports it', async () => {
    await using stack = await startStack({ topology: 'one', ground });
    const admin = await stack.admin();
    await admin.patch(settingsPath, { 'smtp.pass': 'hunter2' });
    const sealed = (name: string, type: string) => ({ name, type, options: { encrypted: true } });
    const fields = [{ name: 'title', type: 'text' }, sealed('code', 'text'), sealed('doc', 'json')];
    await admin.post('/api/v1/collections', { name: 'vault', type: 'base', fields, history_enabled: true });
    await admin.send('PUT', '/api/v1/vault/one', { body: { title: 'a', code: 's3cret', doc: { a: 1 } } });
    assert.equal(statSync(keyFile).mode & 0o777, 0o600);
    assert.match(await storedPassword(ground.databaseUrl), /^enc:1:/);
    assert.match(await doctorOf(environment), new RegExp(`^ok: from ${keyFile}; reads all 1 secret settings$`));
  });

  await test('when the file is lost the stack starts, sealed values read as empty, and no other key is made [encryption §4.2]', async (t) => {
    renameSync(keyFile, `${keyFile}.away`);
    for (const [index, topology] of topologiesOrInCi('processes').entries())
      await t.test(topology, async () => {
        await using stack = await startStack({ topology, ground });
        const admin = await stack.admin();
        assert.equal(objectAt((await admin.get(settingsPath)).json, 'data')['smtp.pass'], '');
        const one = objectAt((await admin.get('/api/v1/vault/one')).json, 'data');
        assert.deepEqual([one.code, one.doc], ['', null]);
        await admin.patch('/api/v1/vault/one', { title: topology });
        await admin.send('PUT', '/api/v1/vault/two', { body: { code: 'plain' } });
        // A setting, two fields, and their values in every history version. Each topology adds a version.
        const warned = logLines(stack.process.lines).find(({ msg }) => /encryption key is missing/i.test(`${msg}`));
        assert.deepEqual([warned?.level, warned?.count], ['warn', 5 + 2 * index]);
        await eventually('readyz says so', async () => {
          const { status, json } = await admin.get('/readyz');
          assert.equal(status, 200);
          return /\d encrypted values read as empty: SERVICE_ENCRYPTION_KEY is missing/.test(JSON.stringify(json));
        });
        assert.doesNotMatch((await stack.guest.get('/readyz')).text, /encrypted values/);
        assert.match(await doctorOf(environment), /^broken: it is not set/);
        assert.equal(existsSync(keyFile), false);
      });
  });

  await test('what is written meanwhile is stored in plain text; with the file back everything is there [encryption §4.2]', async () => {
    renameSync(`${keyFile}.away`, keyFile);
    await using stack = await startStack({ topology: 'one', ground });
    const admin = await stack.admin();
    assert.equal(objectAt((await admin.get(settingsPath)).json, 'data')['smtp.pass'], 'hunter2');
    const recordOf = async (id: string) => objectAt((await admin.get(`/api/v1/vault/${id}`)).json, 'data');
    const one = await recordOf('one');
    assert.deepEqual([one.title, one.code, one.doc], ['processes', 's3cret', { a: 1 }]);
    assert.equal((await recordOf('two')).code, 'plain');
    assert.doesNotMatch((await admin.get('/readyz')).text, /read as empty/);
  });

  await test('another start on the same database without the key creates no second key', async () => {
    const other = createDataDirectory();
    tidying.defer(() => rmSync(other, { recursive: true, force: true }));
    await using stack = await startStack({ topology: 'one', ground: { ...ground, dataDirectory: other } });
    assert.ok(stack.process.lines.some((line) => line.includes('SERVICE_ENCRYPTION_KEY')));
    assert.equal(existsSync(join(other, 'encryption_key')), false);
  });

  await test('is overridden by the variable, with a message when they differ', async () => {
    const different = { SERVICE_ENCRYPTION_KEY: 'another key' };
    await using stack = await startStack({ topology: 'one', ground, environment: different });
    assert.ok(stack.process.lines.some((line) => line.includes('the key file holds another key, which is not used')));
    const found = await doctorOf({ ...environment, ...different });
    assert.match(found, /broken: it does not match/);
    assert.match(found, /warning: SERVICE_ENCRYPTION_KEY is used, and .* holds another key/);
  });

  await test('is rotated by one command, which writes the file', async () => {
    const before = readFileSync(keyFile, 'utf8');
    const done = await runCli(['encryption', 'rotate'], { environment });
    assert.equal(done.code, 0, done.stderr);
    assert.notEqual(readFileSync(keyFile, 'utf8'), before);
    assert.match(await doctorOf(environment), /^ok: from /);
  });

  await test('is part of a backup and restored with it; --no-secret leaves it out', async () => {
    const archive = join(ground.dataDirectory, 'all.tar.gz');
    assert.equal((await runCli(['backup', 'create', archive], { environment })).code, 0);
    await using second = await createGround();
    const restored = await runCli(['backup', 'restore', archive], { environment: environmentOf(second) });
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(await doctorOf(environmentOf(second)), /^ok: from .*; reads all 1 secret settings$/);
    const without = join(ground.dataDirectory, 'without.tar.gz');
    assert.equal((await runCli(['backup', 'create', without, '--no-secret'], { environment })).code, 0);
    await using third = await createGround();
    const bare = await runCli(['backup', 'restore', without], { environment: environmentOf(third) });
    assert.match(bare.stdout, /Set SERVICE_ENCRYPTION_KEY to the backed-up deployment's encryption key/);
    assert.match(await doctorOf(environmentOf(third)), /^broken: it is not set/);
  });
});

test('a start encrypts the secrets in a data directory without a key, even after a killed start [encryption §3.2]', async () => {
  await using tidying = new AsyncDisposableStack();
  const dataDirectory = createDataDirectory();
  tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const environment = { SERVICE_DATA_DIR: dataDirectory };
  const keyFile = join(dataDirectory, 'encryption_key');
  const noteOf = (): unknown => JSON.parse(readFileSync(join(dataDirectory, 'stack.json'), 'utf8'));

  /** Runs `work` with a started stack's admin and its database's URL. */
  async function running<T>(
    work: (admin: ReturnType<typeof createClient>, databaseUrl: string) => Promise<T>,
  ): Promise<T> {
    const product = startProduct('one', environment);
    try {
      const { url, setupToken } = await readiness(product);
      const guest = createClient(url);
      const session = setupToken
        ? await guest.post('/api/v1/admin/setup', { token: setupToken, ...firstAdmin })
        : await guest.post('/api/v1/admin/login', firstAdmin, 200);
      return await work(createClient(url, textAt(session, 'token')), textAt(noteOf(), 'databaseUrl'));
    } finally {
      await endChild(product);
    }
  }

  await running(async (admin, databaseUrl) => {
    await admin.patch(settingsPath, { 'smtp.pass': 'hunter2' });
    const client = new pg.Client(databaseUrl);
    await client.connect();
    // An earlier version stored it in plain text, without a key.
    await client.query("update system.settings set value = 'hunter2' where key = 'smtp.pass'");
    await client.query('delete from system.key_check');
    await client.end();
  });
  rmSync(keyFile);
  for (const interrupt of [() => {}, () => renameSync(keyFile, `${keyFile}.next`)]) {
    interrupt();
    await running(async (admin, databaseUrl) => {
      assert.match(await storedPassword(databaseUrl), /^enc:1:/);
      assert.equal(at((await admin.get(settingsPath)).json, 'data')?.['smtp.pass' as never], 'hunter2');
      assert.equal(statSync(keyFile).mode & 0o777, 0o600);
    });
  }
  writeFileSync(keyFile, '');
  const product = startProduct('one', environment);
  assert.equal((await product.exited).code, 78);
  assert.match(product.lines.at(-1) ?? '', /The key file .* is empty/);
});
