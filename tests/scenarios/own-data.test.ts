import assert from 'node:assert/strict';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { erased } from './erasures.ts';
import { png, upload } from './file-forms.ts';
import { ended } from './import-jobs.ts';
import { readZip } from './read-zip.ts';

const password = 'a long and winding password';

interface Person {
  readonly id: string;
  readonly token: string;
  readonly client: Client;
}

async function signUp(target: Target, name: string): Promise<Person> {
  const body = { email: `${name}@example.com`, password, full_name: name };
  const session = await target.guest.post('/api/v1/auth/own_members/register', body);
  const token = textAt(session, 'token');
  return { id: textAt(session, 'record.id'), token, client: createClient(target.url, token) };
}

/** Asks for an export. Returns its job's id. */
async function ask({ client }: Person): Promise<string> {
  const answer = await client.get('/api/v1/auth/own_members/export');
  assert.equal(answer.status, 202, answer.text);
  assert.equal(at(answer.json, 'data.kind'), 'export');
  return textAt(answer.json, 'data.id');
}

const archivePath = (job: string): string => `/api/v1/jobs/${job}/archive`;

async function download(target: Target, { token }: Person, job: string) {
  const answer = await fetch(`${target.url}${archivePath(job)}`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/zip');
  assert.match(String(answer.headers.get('content-disposition')), /^attachment; filename="own_members-.*\.zip"$/);
  return readZip(Buffer.from(await answer.arrayBuffer()));
}

const sessionMembers = ['created_at', 'id', 'ip', 'last_used_at', 'user_agent'];

const rowsOf = (entries: ReadonlyMap<string, Buffer>, name: string, folder = 'records'): unknown[] =>
  String(entries.get(`${folder}/${name}.ndjson`) ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

onEachTopology('a user exports their own data', async (t, target) => {
  const admin = await target.admin();
  const relation = (more: object = {}) => ({ name: 'owner', type: 'relation', collection: 'own_members', ...more });
  await admin.post('/api/v1/collections', {
    name: 'own_members',
    type: 'auth',
    fields: [
      { name: 'full_name', type: 'text' },
      { name: 'remark', type: 'text', view_rule: '' },
      { name: 'portrait', type: 'file' },
    ],
    view_rule: '',
  });
  const define = (name: string, view_rule: string | null, fields: readonly object[]) =>
    admin.post('/api/v1/collections', { name, fields, view_rule, list_rule: '' });
  await define('own_letters', 'owner = @request.auth.id', [
    { name: 'text', type: 'text' },
    { name: 'scans', type: 'file', options: { multiple: true } },
    relation(),
  ]);
  await define('own_rooms', 'open = true', [{ name: 'open', type: 'bool' }, relation({ options: { multiple: true } })]);
  await define('own_notes', '', [{ name: 'text', type: 'text' }, relation()]);
  await define('own_reports', null, [
    { name: 'text', type: 'text' },
    { ...relation(), view_rule: '' },
  ]);
  const ada = await signUp(target, 'ada');
  const bob = await signUp(target, 'bob');
  await admin.patch(`/api/v1/own_members/${ada.id}`, { remark: 'never shown' });
  const scan = { filename: 'scan of ü.png', type: 'image/png', content: png };
  const letter = await upload(
    admin,
    '/api/v1/own_letters',
    { name: 'text', content: 'from ada' },
    { name: 'owner', content: ada.id },
    { name: 'scans', ...scan },
    { name: 'scans', ...scan },
  );
  await admin.create('own_letters', { text: 'from bob', owner: bob.id });
  const room = await admin.create('own_rooms', { open: true, owner: [bob.id, ada.id] });
  await admin.create('own_rooms', { open: false, owner: [ada.id] });
  await admin.create('own_notes', { text: 'about ada', owner: ada.id });
  await admin.create('own_reports', { text: 'about ada', owner: ada.id });
  let job = '';

  await t.test(
    'the archive has the account, what refers to it and may be viewed, and files [privacy §4.2]',
    async () => {
      job = await ask(ada);
      const done = await ended(ada.client, job);
      assert.equal(done.state, 'done', JSON.stringify(done));
      assert.equal(at(done, 'archive.files'), 2);
      assert.equal(at(done, 'rows.total'), 3);
      const entries = await download(target, ada, job);
      const names = (letter.scans as string[]).map((name) => `files/own_letters/${letter.id}/${name}`);
      assert.deepEqual(
        [...entries.keys()].sort(),
        [
          ...names,
          'account/sessions.ndjson',
          'records/own_letters.ndjson',
          'records/own_members.ndjson',
          'records/own_rooms.ndjson',
        ].sort(),
      );
      for (const name of names) assert.ok(entries.get(name)?.equals(png), name);
      const [account, ...others] = rowsOf(entries, 'own_members');
      assert.deepEqual(others, []);
      assert.equal(at(account, 'id'), ada.id);
      assert.equal(at(account, 'email'), 'ada@example.com');
      assert.deepEqual(
        rowsOf(entries, 'own_letters').map((row) => at(row, 'text')),
        ['from ada'],
      );
      assert.deepEqual(
        rowsOf(entries, 'own_rooms').map((row) => at(row, 'id')),
        [room.id],
      );
      assert.ok(![...entries.values()].some((content) => content.includes('never shown')));
    },
  );

  await t.test('it has sessions, links and passkeys as the API shows them [privacy §4.2]', async () => {
    const carl = await signUp(target, 'carl');
    if (target.databaseUrl !== undefined)
      for (const [text, ...values] of [
        [
          `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at, issuer, subject)
            select id, 'github', $1, $2, 1700000000, 'https://issuer.example', 'secret subject'
            from system.collections where name = 'own_members'`,
          `carl-${carl.id}`,
          carl.id,
        ],
        [
          `insert into system.passkeys (id, collection_id, account_id, credential_id, public_key, user_handle, sign_count,
              is_copyable, is_copied, transports, name, created_at)
            select $1, id, $2, convert_to($1, 'UTF8'), convert_to('secret key', 'UTF8'), 'h', 0, true, false, '{usb}', 'my key', 1700000000
            from system.collections where name = 'own_members'`,
          `passkey-${carl.id}`,
          carl.id,
        ],
      ])
        await inDatabase(target, String(text), values);
    const own = await ask(carl);
    assert.equal((await ended(carl.client, own)).state, 'done');
    const entries = await download(target, carl, own);
    const linesOf = (name: string) => rowsOf(entries, name, 'account');
    const sessions = listAt((await carl.client.get('/api/v1/auth/own_members/sessions')).json, 'data');
    assert.deepEqual(
      linesOf('sessions').map((row) => at(row, 'id')),
      sessions.map(({ id }) => id),
    );
    assert.deepEqual(Object.keys(Object(linesOf('sessions')[0])).sort(), sessionMembers);
    for (const secret of [carl.token, 'secret subject', 'secret key'])
      assert.ok(![...entries.values()].some((content) => content.includes(secret)), secret);
    if (target.databaseUrl === undefined) return;
    assert.deepEqual(linesOf('links'), [
      { provider: 'github', provider_user_id: `carl-${carl.id}`, created: 1_700_000_000 },
    ]);
    assert.deepEqual(
      linesOf('passkeys').map((row) => at(row, 'name')),
      ['my key'],
    );
    const audited = listAt((await admin.get('/api/v1/admin/audit?action=users.export&perPage=100')).json, 'data');
    const rows = audited.filter((row) => at(row, 'details.job') === own);
    assert.deepEqual(
      rows.map((row) => [row.actor_type, row.actor_id, row.target_id]),
      [['user', carl.id, carl.id]],
    );
  });

  await t.test('only its owner reads the job and the archive [privacy §4.3]', async () => {
    for (const path of [`/api/v1/jobs/${job}`, archivePath(job)]) {
      assert.equal((await bob.client.get(path)).status, 404, path);
      assert.equal((await target.guest.get(path)).status, 401, path);
    }
    assert.equal((await admin.get(archivePath(job))).status, 404);
    for (const id of [unknownId, 'x', `${job}'`, job.toUpperCase().slice(0, -1)]) {
      assert.equal((await ada.client.get(archivePath(encodeURIComponent(id)))).status, 404, id);
      assert.equal((await ada.client.get(`/api/v1/jobs/${encodeURIComponent(id)}`)).status, 404, id);
    }
  });

  await t.test('a user sees no other jobs [privacy §4.1]', async () => {
    const counted = await admin.send('POST', `/api/v1/admin/erase/own_members/${ada.id}`, { body: { dry_run: true } });
    const erasure = textAt(counted.json, 'data.id');
    assert.equal((await ada.client.get(`/api/v1/jobs/${erasure}`)).status, 404);
    assert.equal((await ada.client.get(archivePath(erasure))).status, 404);
    assert.equal((await ada.client.get('/api/v1/jobs')).status, 403);
    await ended(admin, erasure);
  });

  await t.test('others cannot export [privacy §4.1]', async () => {
    const path = '/api/v1/auth/own_members/export';
    assert.equal((await target.guest.get(path)).status, 401);
    assert.equal((await admin.get(path)).status, 403);
    assert.equal((await (await target.user()).get(path)).status, 403);
    assert.equal((await ada.client.get('/api/v1/auth/own_letters/export')).status, 404);
    assert.equal((await ada.client.get('/api/v1/auth/no_such_members/export')).status, 404);
  });

  await t.test('a HEAD starts nothing', async () => {
    const answer = await bob.client.send('HEAD', '/api/v1/auth/own_members/export');
    assert.equal(answer.status, 202);
    const jobs = await admin.get('/api/v1/jobs?collection=own_members&perPage=100');
    assert.ok(!jobs.text.includes(bob.id), jobs.text);
  });

  await t.test(
    'ten requests at once get one job, and the next export ends the former archive [privacy §4.3]',
    async () => {
      const asked = await Promise.all(Array.from({ length: 10 }, () => ask(ada)));
      const last = asked.toSorted().at(-1) ?? '';
      assert.equal((await ended(ada.client, last)).state, 'done');
      assert.ok(new Set(asked).size < 10, 'requests share a job');
      await eventually(
        'the former archive has gone',
        async () => (await ada.client.get(archivePath(job))).status === 410,
      );
      await download(target, ada, last);
    },
  );

  await t.test('an erasure removes the jobs and the archives [privacy §4.3]', async () => {
    const own = await ask(bob);
    await ended(bob.client, own);
    await erased(admin, 'own_members', bob.id);
    assert.equal((await admin.get(`/api/v1/jobs/${own}`)).status, 404);
  });
});
