import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import type { PocketBaseData } from '../harness/pocketbase/data.ts';
import { prepareMove } from '../harness/pocketbase/move.ts';
import { firstAdmin } from '../harness/stacks/stack.ts';
import { adasHash, day, id } from './pocketbase-notes.ts';

const times = { created: day(1), updated: day(2) };
const password = 'a long and winding password';

/** An app whose users have names, and an address only if they like, as many have that began before PocketBase 0.23. */
function fill(data: PocketBaseData): void {
  data.define({
    id: '_pb_users_auth_',
    name: 'users',
    type: 'auth',
    isAddressOptional: true,
    fields: [
      { name: 'username', type: 'text', required: true, autogeneratePattern: 'users[0-9]{12}' },
      { name: 'role', type: 'select', values: ['boss', 'staff'], maxSelect: 1 },
    ],
    rules: { list: '', view: '', create: '', update: 'id = @request.auth.id' },
    indexes: ['CREATE UNIQUE INDEX `idx_username` ON `users` (username COLLATE NOCASE)'],
    options: {
      authRule: '',
      manageRule: '@request.auth.role = "boss"',
      passwordAuth: { enabled: true, identityFields: ['username', 'email'] },
      mfa: { enabled: true, rule: 'role = "boss"' },
    },
  });
  data.define({
    id: 'pbc_reachable',
    name: 'reachable',
    fields: [{ name: 'name', type: 'text' }],
    rules: { list: '@request.auth.email != ""' },
  });
  data.define({
    id: 'pbc_staff',
    name: 'staff',
    type: 'auth',
    fields: [],
    options: { authRule: '', passwordAuth: { enabled: false }, otp: { enabled: false }, oauth2: { enabled: false } },
  });
  data.define({
    id: 'pbc_members',
    name: 'members',
    type: 'auth',
    fields: [],
    options: {
      authRule: '',
      passwordAuth: { enabled: true, identityFields: ['email'] },
      mfa: { enabled: true, rule: '' },
      otp: { enabled: true },
      oauth2: { enabled: false },
    },
  });
  const account = { emailVisibility: 0, password: adasHash, verified: 1, ...times };
  data.insert('staff', { ...account, id: id('stan'), email: 'stan@example.com', tokenKey: 'stan'.repeat(10) });
  data.insert('members', { ...account, id: id('mia'), email: 'mia@example.com', tokenKey: 'mia0'.repeat(10) });
  const rows = [
    { id: id('ada'), username: 'Ada', role: 'staff', email: '', verified: 0 },
    { id: id('bob'), username: 'bob', role: 'boss', email: 'bob@example.com', verified: 1 },
    { id: id('cy'), username: 'cy', role: 'staff', email: 'cy@example.com', verified: 0 },
  ];
  for (const row of rows)
    data.insert('users', { emailVisibility: 0, password: adasHash, tokenKey: row.id.repeat(3), ...row, ...times });
  data.insert('reachable', { id: id('news'), name: 'news', ...times });
}

suite('accounts that move in from PocketBase', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const { stack, admin, move } = await prepareMove(tidying, fill);
  const { guest, url } = stack;
  const first = await move();
  assert.equal(first.code, 0, first.stderr);
  await admin.patch('/api/v1/admin/settings', { 'pocketbase.enabled': '1' });
  const notes = listAt(first.json, 'notes').filter((note) => at(note, 'collection') === 'users');
  const login = (identity: string, secret = 'secret-of-ada') =>
    guest.send('POST', '/api/v1/auth/users/login', { body: { identity, password: secret } });
  const tokenOf = async (identity: string) => textAt((await login(identity)).json, 'data.token');
  const path = (method: string) => `/pb/api/collections/users/${method}`;

  test('users without an address sign in by their names, in any case [move §2.3]', async () => {
    for (const name of ['Ada', 'ada', 'ADA']) {
      const answer = await login(name);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(at(answer.json, 'data.record.email'), `pocketbase_${id('ada')}@users.invalid`);
    }
    assert.equal((await login('Ada', 'wrong password')).status, 401);
  });

  test('a rule that asks for an address is not met by a made-up one [move §2.3]', async () => {
    const seenBy = async (name: string) =>
      listAt((await createClient(url, await tokenOf(name)).get('/api/v1/reachable')).json, 'data').length;
    assert.deepEqual([await seenBy('ada'), await seenBy('cy')], [0, 1]);
  });

  test('who meets the manage rule sees addresses, and changes none [move §2.3]', async () => {
    const seen = async (token?: string) =>
      at((await createClient(url, token).get(`/api/v1/users/${id('cy')}`)).json, 'data.email');
    assert.deepEqual(
      [
        await seen(await tokenOf('bob')),
        await seen(await tokenOf('cy')),
        await seen(await tokenOf('ada')),
        await seen(),
      ],
      ['cy@example.com', 'cy@example.com', undefined, undefined],
    );
    const boss = createClient(url, await tokenOf('bob'));
    const taken = await boss.send('PATCH', `/api/v1/users/${id('cy')}`, { body: { email: 'mine@example.com' } });
    assert.equal(taken.status, 403, taken.text);
    const rule = listAt(first.json, 'rules').find((one) => at(one, 'rule') === 'manageRule');
    assert.deepEqual([at(rule, 'result'), at(rule, 'from')], ['narrower', '@request.auth.role = "boss"']);
    const text = notes.map((note) => textAt(note, 'text')).find((one) => one.includes('manage rule'));
    assert.match(text ?? '', /records:users:write/);
  });

  test('a second factor that was required is a risk in the report [move §2.3]', () => {
    const risk = notes.find((note) => at(note, 'kind') === 'risk');
    assert.match(textAt(risk, 'text'), /second factor was required \(role = "boss"\).*Ask them/);
  });

  test('users sign in only in the ways of PocketBase, and with a passkey [move §2.3]', async () => {
    const settings = objectAt((await admin.get('/api/v1/admin/settings')).json, 'data');
    const ways = ['staff', 'members', 'users'].map((name) => settings[`auth.methods.${name}`]);
    assert.deepEqual(ways, ['none', 'password,otp,passkey', undefined]);
    const body = { identity: 'stan@example.com', password: 'secret-of-ada' };
    const refused = await guest.send('POST', '/api/v1/auth/staff/login', { body });
    assert.deepEqual([refused.status, at(refused.json, 'code')], [422, 'feature_disabled']);
    await eventually('the path is served', async () => (await guest.get('/pb/api/health')).status === 200);
    const theirs = await guest.send('POST', '/pb/api/collections/staff/auth-with-password', { body });
    assert.equal(theirs.status, 403, theirs.text);
  });

  test('a second factor that everyone needed is a mailed code [move §2.3]', async () => {
    const settings = objectAt((await admin.get('/api/v1/admin/settings')).json, 'data');
    assert.equal(settings['auth.mfa.email.members'], '1');
    const body = { identity: 'mia@example.com', password: 'secret-of-ada' };
    // Without a mail server nobody gets in by a password alone.
    const answer = await guest.send('POST', '/api/v1/auth/members/login', { body });
    assert.deepEqual([answer.status, at(answer.json, 'code')], [422, 'mail_not_configured'], answer.text);
    const texts = listAt(first.json, 'notes').filter((note) => at(note, 'collection') === 'members');
    assert.match(texts.map((note) => textAt(note, 'text')).join('; '), /sign-ins need mail/);
  });

  test("PocketBase's clients register users without an address, and see none [move §2.3]", async () => {
    await eventually('the path is served', async () => (await guest.get('/pb/api/health')).status === 200);
    const body = { password, passwordConfirm: password, email: '', emailVisibility: false };
    const created = await guest.send('POST', path('records'), { body });
    assert.equal(created.status, 200, created.text);
    const name = textAt(created.json, 'username');
    assert.match(name, /^users[0-9]{12}$/);
    const signedIn = await guest.send('POST', path('auth-with-password'), {
      body: { identity: name.toUpperCase(), password },
    });
    assert.equal(signedIn.status, 200, signedIn.text);
    assert.equal(at(signedIn.json, 'record.email'), '');
    const own = createClient(url, textAt(signedIn.json, 'token'));
    // A client sends the whole record back.
    const record = at(signedIn.json, 'record') as Record<string, unknown>;
    const saved = await own.send('PATCH', path(`records/${String(record.id)}`), {
      body: { ...record, username: 'dora' },
    });
    assert.deepEqual([saved.status, at(saved.json, 'username'), at(saved.json, 'email')], [200, 'dora', '']);
    const taken = await guest.send('POST', path('records'), { body: { ...body, username: 'DORA' } });
    assert.equal(taken.status, 400);
    assert.equal(at(taken.json, 'data.username.code'), 'validation_not_unique');
  });

  test("PocketBase's clients filter by whether there is an address [move §2.3]", async () => {
    const token = textAt((await guest.send('POST', '/api/v1/admin/login', { body: firstAdmin })).json, 'data.token');
    const namesOf = async (filter: string) => {
      const answer = await createClient(url, token).get(
        `${path('records')}?sort=username&filter=${encodeURIComponent(filter)}`,
      );
      return listAt(answer.json, 'items').map((one) => at(one, 'username'));
    };
    assert.deepEqual(await namesOf('email != ""'), ['bob', 'cy']);
    assert.deepEqual(await namesOf('email = "" && username ~ "ada"'), ['Ada']);
  });
});
