import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { createPocketBaseData } from '../harness/pocketbase/data.ts';
import { createMoveFolder } from '../harness/pocketbase/move.ts';
import { endChild } from '../harness/processes/child.ts';
import { runCli } from '../harness/processes/cli.ts';
import { readiness, startProduct } from '../harness/stacks/stack.ts';
import { adasHash } from './pocketbase-notes.ts';

suite('superusers of PocketBase become admins', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const folder = createMoveFolder(tidying);
  const directory = join(folder, 'pb_data');
  const data = createPocketBaseData(directory);
  tidying.defer(async () => data.close());
  const superusers = (options: Readonly<Record<string, unknown>>) =>
    data.define({ id: 'pbc_superusers', name: '_superusers', type: 'auth', system: true, fields: [], options });
  const addSuperuser = (id: string, email: string, password = adasHash) =>
    data.insert('_superusers', { id, email, password, tokenKey: 'k'.repeat(50), verified: 1 });
  superusers({ authRule: '', mfa: { enabled: true }, passwordAuth: { enabled: true } });
  addSuperuser('root', 'root@example.com');
  addSuperuser('installer', '__pbinstaller@example.com');
  addSuperuser('slow', 'slow@example.com', adasHash.replace('$05$', '$20$'));
  const environment = { SERVICE_DATA_DIR: join(folder, 'stack') };
  const product = startProduct('one', environment);
  tidying.defer(async () => {
    await endChild(product);
  });
  const { url } = await readiness(product);
  const move = async (...more: string[]) => {
    const { code, stdout, stderr } = await runCli(['import', 'pocketbase', directory, ...more], { environment });
    return { code, stdout, stderr, report: stdout === '' ? undefined : (JSON.parse(stdout) as unknown) };
  };
  const signIn = (email: string, password = 'secret-of-ada') =>
    createClient(url).send('POST', '/api/v1/admin/login', { body: { identity: email, email, password } });

  test('none does while PocketBase asks them for more than a password [move §2.9]', async () => {
    for (const options of [
      { mfa: { enabled: true } },
      { authRule: 'verified = true' },
      { authRule: null },
      { passwordAuth: { enabled: false } },
    ]) {
      superusers({ authRule: '', ...options });
      const { report } = await move('--dry-run', '--json');
      assert.deepEqual(at(report, 'admins'), [], JSON.stringify(options));
      assert.match(JSON.stringify(at(report, 'not_taken')), /superusers \(/);
    }
    superusers({ authRule: '' });
    const limit = (networks: readonly string[]) =>
      data.database
        .prepare('update _params set value = ?')
        .run(JSON.stringify({ superuserIPs: networks, s3: { enabled: false } }));
    limit(['192.0.2.1']);
    assert.deepEqual(at((await move('--dry-run', '--json')).report, 'admins'), []);
    limit([]);
  });

  test('they sign in with their passwords, and the report says who does not [move §2.9]', async () => {
    const planned = await move('--dry-run', '--json');
    assert.equal(planned.code, 2, planned.stderr);
    assert.deepEqual(at(planned.report, 'admins'), ['root@example.com']);
    assert.equal((await signIn('root@example.com')).status, 401);
    const skipped = await move('--superusers', 'skip', '--json');
    assert.deepEqual(at(skipped.report, 'admins'), []);
    const { code, report, stderr } = await move('--json');
    assert.equal(code, 0, stderr);
    assert.deepEqual(at(report, 'admins'), ['root@example.com']);
    assert.match(JSON.stringify(at(report, 'notes')), /slow@example\.com is not an admin here/);
    assert.equal((await signIn('root@example.com', 'secret-of-eve')).status, 401);
    assert.equal((await signIn('root@example.com')).status, 200);
  });

  test('an admin is not changed by a later run, and a deleted one does not come back [move §2.9]', async () => {
    const token = textAt((await signIn('root@example.com')).json, 'data.token');
    const admin = createClient(url, token);
    const other = { email: 'ada@example.com', password: 'correct horse battery staple' };
    await admin.post('/api/v1/admin/admins', other);
    addSuperuser('ada', 'Ada@example.com');
    const again = await move('--json');
    assert.deepEqual(at(again.report, 'admins'), []);
    assert.match(JSON.stringify(at(again.report, 'notes')), /an admin has this address already/);
    assert.equal((await signIn(other.email, other.password)).status, 200);
    const ada = createClient(url, textAt((await signIn(other.email, other.password)).json, 'data.token'));
    const admins = listAt((await ada.get('/api/v1/admin/admins')).json, 'data');
    const root = admins.find(({ email }) => email === 'root@example.com');
    assert.equal((await ada.send('DELETE', `/api/v1/admin/admins/${root?.id}`)).status, 200);
    assert.deepEqual(at((await move('--json')).report, 'admins'), []);
    assert.equal((await signIn('root@example.com')).status, 401);
    assert.deepEqual(listAt((await ada.get('/api/v1/admin/keys')).json, 'data'), [], 'the key of each run is gone');
  });

  test('a wrong command line ends with 1, since 2 means that there is something to do [move §1.3]', async () => {
    for (const wrong of [['--superusers', 'all'], ['--nothing'], ['--views', 'some']])
      assert.equal((await move(...wrong)).code, 1, wrong.join(' '));
  });
});
