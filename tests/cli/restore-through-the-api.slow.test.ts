import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { startServiceProcess } from '../harness/stacks/service-process.ts';
import {
  createGround,
  firstAdmin,
  type Ground,
  type Stack,
  startStack,
  type Topology,
} from '../harness/stacks/stack.ts';
import { variablesOf } from './backup/deployment.ts';

const path = '/api/v1/admin/backups';
const restoresPath = '/api/v1/admin/restores';

for (const topology of ['one', 'processes'] as const)
  test(`a restore through the API, ${topology} [operation §9.7]`, (t) => restoreOn(t, topology));

async function restoreOn(t: TestContext, topology: Topology): Promise<void> {
  await using ground = await createGround();
  await using stack = await startStack({ topology, ground, environment: variablesOf(ground) });
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'notes', fields: [{ name: 'title', type: 'text' }] });
  await admin.create('notes', { title: 'before' });
  const backup = await makeBackup(admin);
  const token = await signIn(stack);
  const bytes = await download(stack, token, backup);
  await admin.create('notes', { title: 'after' });

  await t.test('only an admin who names the archive orders one', async () => {
    const { id, file } = named(backup);
    const order = (client: Client, body: object) => client.send('POST', `${path}/${id}/restore`, { body });
    assert.equal((await order(stack.guest, { file })).status, 401);
    assert.equal((await order(await stack.user(), { file })).status, 403);
    assert.equal((await order(admin, {})).status, 422);
    assert.equal((await order(admin, { file: `${file} ` })).status, 422);
    assert.equal((await stack.guest.get(restoresPath)).status, 401);
    assert.equal((await stack.guest.get(`${restoresPath}/${id}`)).status, 404);
    assert.deepEqual(objectAt((await admin.get(restoresPath)).json, 'data'), { available: true, last: null });
  });

  await t.test('a refused archive stops nothing', async () => {
    // It has this deployment's key, and the restore has another one: as an archive from elsewhere would.
    const other = join(ground.dataDirectory, 'other.tar.gz');
    const environment = { ...variablesOf(ground), SERVICE_ENCRYPTION_KEY: '' };
    await using second = await createGround();
    const secondStack = await startStack({
      topology: 'one',
      ground: second,
      environment: { ...environment, ...groundOnly(second) },
    });
    const made = await runCli(['backup', 'create', other], { environment: { ...environment, ...groundOnly(second) } });
    await secondStack.stop();
    assert.equal(made.code, 0, made.stderr);
    const uploaded = await settled(admin, await upload(stack, token, readFileSync(other)));
    assert.equal(uploaded.state, 'done', String(uploaded.error));
    const note = await ended(stack, await order(admin, uploaded));
    assert.equal(note.state, 'failed');
    assert.match(String(note.message), /another encryption key/);
    assert.equal((await admin.get('/api/v1/notes')).status, 200);
    assert.equal(existsSync(join(ground.dataDirectory, 'restore/archive.tar.gz')), false);
    await admin.delete(`${path}/${uploaded.id}`);
  });

  await t.test('a restore that the command line refuses changes nothing, and the stack starts again', async () => {
    await using _ = await startServiceProcess('webhooks', ground, variablesOf(ground));
    const note = await ended(stack, await order(admin, backup));
    assert.equal(note.state, 'failed');
    assert.match(String(note.message), /^Nothing has changed. Services are running on this database \(webhooks\)/);
    assert.deepEqual(await titles(admin), ['after', 'before']);
  });

  await t.test('everything is as it was at the backup, and the archives stay listed', async () => {
    const uploaded = await settled(admin, await upload(stack, token, bytes));
    assert.deepEqual([uploaded.state, uploaded.source, uploaded.rows], ['done', 'upload', backup.rows]);
    const note = await ended(stack, await order(admin, uploaded));
    assert.equal(note.state, 'done', String(note.message));
    assert.match(String(note.message), new RegExp(`^Restored ${uploaded.rows} rows and 0 files as of `));
    assert.deepEqual(await titles(admin), ['before']);
    const listed = listAt((await admin.get(path)).json, 'data');
    assert.deepEqual(
      listed.map(({ id, state }) => [id, state]),
      [
        [uploaded.id, 'done'],
        [backup.id, 'done'],
      ],
    );
    assert.deepEqual(readdirSync(join(ground.dataDirectory, 'restore')), ['restore.json']);
    const [audited] = listAt((await admin.get('/api/v1/admin/audit?action=backups.restore')).json, 'data');
    assert.equal(audited?.actor_type, 'system');
  });

  await t.test('the restarted stack restores again, and stops with the process that waits for it', async () => {
    assert.equal((await ended(stack, await order(admin, backup))).state, 'done');
    assert.deepEqual(await titles(admin), ['before']);
    await stack.stop();
    assert.equal((await fetch(stack.url).catch(() => undefined)) === undefined, true);
  });
}

for (const state of ['checking', 'waiting', 'restoring'])
  test(`a restore whose process was killed while ${state} has failed [operation §9.7]`, async () => {
    await using ground = await createGround();
    const directory = join(ground.dataDirectory, 'restore');
    mkdirSync(directory);
    const note = { id: 'lost', state, file: 'a.tar.gz', message: null, changed_at: 1 };
    writeFileSync(join(directory, 'restore.json'), JSON.stringify(note));
    writeFileSync(join(directory, 'archive.tar.gz'), 'a copy');
    await using stack = await startStack({ topology: 'one', ground, environment: variablesOf(ground) });
    const { state: after, message } = await ended(stack, 'lost');
    assert.equal(after, 'failed');
    assert.match(String(message), /stopped during the check|ended before the restore was complete/);
    assert.deepEqual(readdirSync(directory), ['restore.json']);
  });

test('hostile uploads are refused and leave nothing [operation §9.6]', async (t) => {
  await using ground = await createGround();
  const environment = { ...variablesOf(ground), SERVICE_BACKUPS_MAX_BYTES: '2000000' };
  await using stack = await startStack({ topology: 'one', ground, environment });
  const admin = await stack.admin();
  const backup = await makeBackup(admin);
  const token = await signIn(stack);
  const good = await download(stack, token, backup);
  const tar = gunzipSync(good);
  const failing: readonly (readonly [string, Buffer, RegExp])[] = [
    ['a truncated one', good.subarray(0, 5000), /damaged/],
    ['one without its end', gzipSync(tar.subarray(0, tar.indexOf('checksums.json'))), /damaged|incomplete/],
    [
      'a changed one',
      gzipSync(Buffer.from(tar.toString('latin1').replace('"postgres"', '"postgreS"'), 'latin1')),
      /not a/,
    ],
    ['an empty one', gzipSync(Buffer.alloc(1024)), /incomplete|empty/],
    ['text', gzipSync('a text'), /damaged/],
    ['one with an endless header', gzipSync(entry('x', 2 ** 33, 'x')), /damaged/],
    ['one that unpacks to far more', bomb(tar), /unpacks to more than the allowed/],
  ];
  for (const [name, bytes, says] of failing)
    await t.test(`${name} fails`, async () => {
      const shown = await settled(admin, await upload(stack, token, bytes));
      assert.equal(shown.state, 'failed');
      assert.match(String(shown.error), says);
      const refused = await admin.send('POST', `${path}/${shown.id}/restore`, { body: { file: shown.file } });
      assert.equal(refused.status, 409);
      await admin.delete(`${path}/${shown.id}`);
    });

  await t.test('other bytes and too many bytes are refused at once', async () => {
    const send = (rawBody: Buffer) =>
      fetch(`${stack.url}${path}/upload`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/gzip' },
        body: new Uint8Array(rawBody),
      });
    assert.equal((await send(Buffer.from('PK\u0003\u0004'))).status, 422);
    assert.equal((await send(Buffer.alloc(0))).status, 422);
    assert.equal((await send(gzipSync(good.subarray(0, 10), { level: 0 }))).status, 202);
    await eventually('its check ends', async () =>
      listAt((await admin.get(path)).json, 'data').every(({ state }) => state !== 'running'),
    );
    assert.equal((await send(Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(3_000_000)]))).status, 413);
  });

  await t.test('nothing is left', async () => {
    const archives = readdirSync(join(ground.dataDirectory, 'backups/archives'));
    assert.deepEqual(archives, [backup.id]);
    assert.deepEqual(readdirSync(join(ground.dataDirectory, 'backups/.drafts')), []);
    assert.equal((await admin.get('/api/v1/health')).status, 200);
  });
});

/** The ground's own servers and directory, on top of another ground's variables. */
const groundOnly = (ground: Ground) => ({
  SERVICE_DATABASE_URL: ground.databaseUrl,
  SERVICE_NATS_URL: ground.bus.url,
  SERVICE_DATA_DIR: ground.dataDirectory,
});

const signIn = async ({ guest }: Stack): Promise<string> =>
  textAt(await guest.post('/api/v1/admin/login', firstAdmin, 200), 'token');

const named = (backup: JsonObject) => ({ id: textAt(backup, 'id'), file: textAt(backup, 'file') });

async function settled(admin: Client, id: string): Promise<JsonObject> {
  return eventually('the backup ends', async () => {
    const shown = objectAt((await admin.get(`${path}/${id}`)).json, 'data');
    return shown.state === 'running' ? undefined : shown;
  });
}

const makeBackup = async (admin: Client): Promise<JsonObject> =>
  settled(admin, textAt(await admin.post(path, {}, 202), 'id'));

async function download({ url }: Stack, token: string, { id }: JsonObject): Promise<Buffer> {
  const response = await fetch(`${url}${path}/${id}/archive`, { headers: { Authorization: `Bearer ${token}` } });
  return Buffer.from(await response.arrayBuffer());
}

/** Uploads an archive. Returns its backup's id. */
async function upload({ url }: Stack, token: string, bytes: Buffer): Promise<string> {
  const response = await fetch(`${url}${path}/upload`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/gzip' },
    body: new Uint8Array(bytes),
  });
  const json: unknown = await response.json();
  assert.equal(response.status, 202, JSON.stringify(json));
  return textAt(json, 'data.id');
}

const order = async (admin: Client, backup: JsonObject): Promise<string> => {
  const { id, file } = named(backup);
  return textAt(await admin.post(`${path}/${id}/restore`, { file }, 202), 'id');
};

/** Follows a restore without a session, also while nothing answers. Returns its end. */
const ended = ({ url }: Stack, id: string): Promise<JsonObject> =>
  eventually(
    'the restore ends and the stack answers',
    async () => {
      const answer = await createClient(url)
        .get(`${restoresPath}/${id}`)
        .catch(() => undefined);
      const note = answer?.status === 200 ? objectAt(answer.json, 'data') : undefined;
      return note?.state === 'done' || note?.state === 'failed' ? note : undefined;
    },
    { timeoutMs: 180_000 },
  );

const titles = async (admin: Client): Promise<readonly unknown[]> =>
  listAt((await admin.get('/api/v1/notes?sort=title')).json, 'data').map(({ title }) => title);

/** A tar entry's header. */
function entry(name: string, size: number, type: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000600\0', 100);
  header.write(`${size.toString(8).padStart(11, '0')} `, 124);
  header.write('        ', 148);
  header.write(type, 156);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The archive's first entry, which must be the manifest. */
const firstEntry = (tar: Buffer): Buffer =>
  tar.subarray(0, 512 + 512 * Math.ceil(Number.parseInt(tar.toString('latin1', 124, 135), 8) / 512));

const bomb = (tar: Buffer): Buffer =>
  gzipSync(Buffer.concat([firstEntry(tar), entry('files/a', 2 ** 29, '0'), Buffer.alloc(2 ** 29)]));
