import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { createClient } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, numberAt, objectAt, textAt } from '../../harness/json.ts';
import { createGround, startStack } from '../../harness/stacks/stack.ts';
import { type Deployment, definitionsOf, listAll, variablesOf } from './deployment.ts';

const path = '/api/v1/admin/backups';

/** Backups that admins make through the API. */
export async function throughTheApi(t: TestContext, { ground, url, admin, token, archive, restore }: Deployment) {
  const stateOf = async (id: string): Promise<string> => textAt((await admin.get(`${path}/${id}`)).json, 'data.state');
  const complete = (id: string) => eventually('the backup ends', async () => (await stateOf(id)) !== 'running');

  await t.test('a downloaded archive restores the deployment on the command line', async () => {
    await using copy = await createGround();
    const id = textAt(await admin.post(path, {}, 202), 'id');
    await complete(id);
    const shown = objectAt((await admin.get(`${path}/${id}`)).json, 'data');
    assert.deepEqual([shown.state, shown.error, shown.missing_files], ['done', null, 0]);
    const bytes = await download(url, token, id);
    assert.equal(bytes.length, shown.bytes);
    assert.equal(
      statSync(join(ground.dataDirectory, 'backups/archives', id, textAt(shown, 'file'))).mode & 0o777,
      0o600,
    );
    const half = Math.floor(bytes.length / 2);
    const rest = await download(url, token, id, { Range: `bytes=${half}-` });
    assert.equal(hashOf(rest), hashOf(bytes.subarray(half)));

    writeFileSync(archive('api.tar.gz'), bytes);
    const restored = await restore('api.tar.gz', copy);
    assert.equal(restored.code, 0, restored.stderr);
    assert.equal(at(restored.json, 'rows'), shown.rows);
    // The archive has no secrets, so the operator copies them.
    for (const secret of ['jwt_secret', 'encryption_key']) {
      assert.equal(existsSync(join(copy.dataDirectory, secret)), false);
      if (existsSync(join(ground.dataDirectory, secret)))
        copyFileSync(join(ground.dataDirectory, secret), join(copy.dataDirectory, secret));
    }
    await using second = await startStack({ topology: 'one', ground: copy, environment: variablesOf(copy) });
    const client = createClient(second.url, token);
    assert.deepEqual(await definitionsOf(client), await definitionsOf(admin));
    assert.deepEqual(await listAll(client, 'posts'), await listAll(admin, 'posts'));
    // In its own snapshot the backup was running.
    const [listed] = listAt((await client.get(path)).json, 'data');
    assert.deepEqual([listed?.id, listed?.state], [id, 'failed']);
    await admin.delete(`${path}/${id}`);
    assert.equal((await admin.get(`${path}/${id}/archive`)).status, 404);
    assert.equal(readdirSync(join(ground.dataDirectory, 'backups/archives')).includes(id), false);
    const actions = listAt((await admin.get('/api/v1/admin/audit?action=backups.*')).json, 'data');
    assert.deepEqual(
      actions.filter(({ target_id }) => target_id === id).map(({ action }) => action),
      ['backups.delete', 'backups.download', 'backups.download', 'backups.create'],
    );
  });

  await t.test('one backup runs at a time; a deleted backup ends and leaves nothing', async () => {
    const database = new pg.Client({ connectionString: ground.databaseUrl });
    await database.connect();
    // The backup waits for this lock.
    await database.query("select pg_advisory_lock(hashtext('recordbus.files'))");
    const answers = await Promise.all(Array.from({ length: 5 }, () => admin.send('POST', path, { body: {} })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    assert.match(
      String(at(refused?.json, 'error')),
      /another command is using the database \(backup, connection \d+\)/,
    );
    const id = textAt(answers.find(({ status }) => status === 202)?.json, 'data.id');
    assert.equal((await admin.get(`${path}/${id}/archive`)).status, 409);
    await admin.delete(`${path}/${id}`);
    await eventually('the next one may begin', async () => {
      const next = await admin.send('POST', path, { body: {} });
      if (next.status !== 202) return false;
      await database.end();
      const own = textAt(next.json, 'data.id');
      await complete(own);
      await admin.delete(`${path}/${own}`);
      return true;
    });
    assert.deepEqual(leftIn(ground.dataDirectory), { archives: [], drafts: [] });
  });

  await t.test('a backup whose process was killed has failed, and its draft is removed', async () => {
    await using other = await createGround();
    const stack = await startStack({ topology: 'one', ground: other, environment: variablesOf(other) });
    const database = new pg.Client({ connectionString: other.databaseUrl });
    await database.connect();
    await database.query("select pg_advisory_lock(hashtext('recordbus.files'))");
    const id = textAt(await (await stack.admin()).post(path, {}, 202), 'id');
    await eventually('it writes', () => leftIn(other.dataDirectory).drafts.length > 0);
    stack.process.kill('SIGKILL');
    await stack.stop();
    await database.end();
    await using again = await startStack({ topology: 'one', ground: other, environment: variablesOf(other) });
    const client = await again.admin();
    await eventually('the session of the killed process is gone', async () => {
      const shown = objectAt((await client.get(`${path}/${id}`)).json, 'data');
      return shown.state === 'failed' && shown.error === 'the process that made it has ended';
    });
    assert.deepEqual(leftIn(other.dataDirectory), { archives: [], drafts: [] });
    const next = textAt(await client.post(path, {}, 202), 'id');
    await eventually('another one is made', async () => {
      const { json } = await client.get(`${path}/${next}`);
      return at(json, 'data.state') === 'done' && numberAt(json, 'data.bytes') > 0;
    });
  });

  await t.test('only admins can access backups, and no name leads elsewhere', async () => {
    const own = createClient(url);
    const author = { email: 'eve@example.com', password: 'a long and winding password' };
    await admin.create('authors', author);
    const session = objectAt((await own.send('POST', '/api/v1/auth/authors/login', { body: author })).json, 'data');
    const user = createClient(url, textAt(session, 'token'));
    const narrow = await admin.post('/api/v1/admin/keys', { name: 'narrow', scopes: ['records:*:read', 'files'] }, 201);
    const key = createClient(url, textAt(narrow, 'key'));
    const id = textAt(await admin.post(path, {}, 202), 'id');
    await complete(id);
    for (const [client, status] of [
      [own, 401],
      [user, 403],
      [key, 403],
    ] as const) {
      assert.equal((await client.get(path)).status, status);
      assert.equal((await client.get(`${path}/${id}/archive`)).status, status);
      assert.equal((await client.send('POST', path, { body: {} })).status, status);
      assert.equal((await client.send('DELETE', `${path}/${id}`)).status, status);
    }
    for (const name of ['..', '..%2f..%2fjwt_secret', '%00', `${id}%2f..`, 'a'.repeat(2000), `${id}'--`])
      assert.ok([400, 404].includes((await admin.get(`${path}/${name}/archive`)).status), name);
    for (const body of [{ file: '/etc/x' }, { secrets: true }])
      assert.equal((await admin.send('POST', path, { body })).status, 422);
    assert.equal(await stateOf(id), 'done');
    await admin.delete(`${path}/${id}`);
  });
}

async function download(url: string, token: string, id: string, headers: Record<string, string> = {}): Promise<Buffer> {
  const response = await fetch(`${url}${path}/${id}/archive`, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });
  assert.equal(response.status, 'Range' in headers ? 206 : 200);
  return Buffer.from(await response.arrayBuffer());
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Lists the archive store. */
function leftIn(dataDirectory: string): { archives: string[]; drafts: string[] } {
  const list = (folder: string): string[] => {
    try {
      return readdirSync(join(dataDirectory, 'backups', folder));
    } catch {
      return [];
    }
  };
  return { archives: list('archives'), drafts: list('.drafts') };
}
