import assert from 'node:assert/strict';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const setting = 'auth.identity.crew';

onEachTopology('a login names an account by a unique field [auth §4.1]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  const unique = (name: string, type: string) => ({ name, type, options: { unique: true } });
  await admin.post('/api/v1/collections', {
    name: 'crew',
    type: 'auth',
    fields: [
      unique('username', 'text'),
      unique('work', 'email'),
      { name: 'nick', type: 'text' },
      { name: 'rank', type: 'number', options: { unique: true } },
    ],
  });
  const register = async (email: string, fields: object) => {
    const session = await guest.post('/api/v1/auth/crew/register', { email, password, ...fields });
    return textAt(session, 'record.id');
  };
  const ann = await register('ann@example.com', { username: 'Ann', work: 'ann@work.example', nick: 'annie' });
  const bob = await register('bob@example.com', { username: 'ann@example.com' });
  const send = (body: object) => guest.send('POST', '/api/v1/auth/crew/login', { body });
  const login = (identity: unknown, entered = password) => send({ identity, password: entered });
  const idOf = ({ status, json, text }: Answer): string => {
    assert.equal(status, 200, text);
    return textAt(json, 'data.record.id');
  };
  const invalid = (answer: Answer) =>
    assert.deepEqual([answer.status, at(answer.json, 'code')], [401, 'invalid_credentials'], answer.text);
  const stored = async (key: string) => objectAt((await admin.get('/api/v1/admin/settings')).json, 'data')[key];
  const patch = (settings: object) => admin.send('PATCH', '/api/v1/admin/settings', { body: settings });

  await t.test('without the setting, an identity is an address', async () => {
    assert.equal(idOf(await login('Ann@Example.com ')), ann);
    invalid(await login('Ann'));
  });

  await t.test('the setting takes unique fields that hold text', async () => {
    for (const [text, message] of [
      ['nobody', /no field/],
      ['nick', /not unique/],
      ['rank', /number field/],
      ['email', /needs no setting/],
      ['username,username', /twice/],
      [',', /name a field/],
      ['username;work', /names of fields/],
    ] as const) {
      const { status, json } = await patch({ [setting]: text });
      assert.equal(status, 422, text);
      assert.match(String(Object.values(Object(at(json, 'details')))[0]), message);
    }
    assert.equal((await patch({ 'auth.identity.nowhere': 'username' })).status, 422);
    assert.equal((await patch({ [setting]: 'username, work' })).status, 200);
    await eventually('the setting applies', async () => (await login('Ann')).status === 200);
  });

  await t.test('each of the fields names its account, as its uniqueness compares', async () => {
    assert.equal(idOf(await login('Ann')), ann);
    assert.equal(idOf(await login('ANN@work.example')), ann);
    invalid(await login('ann'));
    invalid(await login('annie'));
    invalid(await login('Аnn'));
    invalid(await login('Ann', `${password}x`));
    invalid(await send({ email: 'Ann', password }));
  });

  await t.test("an address wins over another account's equal username", async () => {
    assert.equal(idOf(await login('ann@example.com')), ann);
    assert.equal(idOf(await login('bob@example.com')), bob);
  });

  await t.test('a named field is the only one that is looked in', async () => {
    const by = (field: string, identity: string) => send({ identity, identity_field: field, password });
    assert.equal(idOf(await by('username', 'Ann')), ann);
    assert.equal(idOf(await by('work', 'ANN@work.example')), ann);
    assert.equal(idOf(await by('email', 'ann@example.com')), ann);
    assert.equal(idOf(await by('username', 'ann@example.com')), bob, "the address is another account's username");
    invalid(await by('email', 'Ann'));
    invalid(await by('work', 'Ann'));
    invalid(await send({ identity: 'Ann', identity_field: 'username', password: 'wrong' }));
  });

  await t.test('odd identities are unknown accounts', async () => {
    await register('eve@example.com', { username: '', work: '' });
    for (const identity of ['', ' ', '\0', 'Ann\0', "' or 1=1 --", '%', 'x'.repeat(1_000_000)])
      invalid(await login(identity));
  });

  await t.test('a body has an address or an identity, as text', async () => {
    for (const [body, place] of [
      [{ password }, 'email'],
      [{ email: 'ann@example.com', identity: 'Ann', password }, 'identity'],
      [{ identity: null, password }, 'identity'],
      [{ identity: ['Ann'], password }, 'identity'],
      [{ identity: 'Ann' }, 'password'],
      [{ email: 'ann@example.com', identity_field: 'email', password }, 'identity_field'],
      [{ identity: 'Ann', identity_field: 'nick', password }, 'identity_field'],
      [{ identity: 'Ann', identity_field: 'nowhere', password }, 'identity_field'],
    ] as const) {
      const { status, json } = await send(body);
      assert.equal(status, 422);
      assert.deepEqual(Object.keys(Object(at(json, 'details'))), [place]);
    }
  });

  await t.test('the lockout counts all identities of an account together [auth §4.3]', async () => {
    await patch({ 'auth.lockout.max_attempts': '3' });
    await eventually('the lockout applies', async () => {
      const unknown = `probe ${Math.random()}`;
      for (let count = 0; count < 3; count += 1) await login(unknown);
      return (await login(unknown)).status === 429;
    });
    invalid(await login('Ann', 'wrong'));
    invalid(await login('ann@work.example', 'wrong'));
    invalid(await send({ email: 'ANN@example.com', password: 'wrong' }));
    for (const body of [{ identity: 'Ann' }, { identity: 'ann@work.example' }, { email: 'ann@example.com' }])
      assert.equal((await send({ ...body, password })).status, 429);
    assert.equal(idOf(await login('bob@example.com')), bob);
    await patch({ 'auth.lockout.max_attempts': '' });
    await eventually('the lockout ends', async () => (await login('Ann')).status === 200);
  });

  await t.test('a completed sign-in by one identity clears the count of all [auth §4.4]', async () => {
    await patch({ 'auth.lockout.max_attempts': '2' });
    const applies = async () => {
      const unknown = `probe ${Math.random()}`;
      await login(unknown);
      await login(unknown);
      return (await login(unknown)).status === 429;
    };
    await eventually('the lockout applies', applies);
    for (let round = 0; round < 3; round += 1) {
      invalid(await send({ email: 'bob@example.com', password: 'wrong' }));
      assert.equal(idOf(await login('bob@example.com')), bob);
    }
    await patch({ 'auth.lockout.max_attempts': '' });
  });

  await t.test('the setting follows renamed fields and a renamed collection [settings §3.1]', async () => {
    await admin.patch('/api/v1/collections/crew/fields/username', { name: 'handle' });
    await eventually('the new name applies', async () => (await login('Ann')).status === 200);
    await admin.patch('/api/v1/collections/crew', { name: 'sailors' });
    assert.equal(await stored('auth.identity.sailors'), 'handle,work');
    await eventually('the new name applies', async () => {
      const body = { identity: 'Ann', password };
      return (await guest.send('POST', '/api/v1/auth/sailors/login', { body })).status === 200;
    });
    await admin.patch('/api/v1/collections/sailors/fields/handle', { options: { unique: false } });
    assert.equal(await stored('auth.identity.sailors'), 'work');
    await eventually('a field without unique names no account', async () => {
      const body = { identity: 'Ann', password };
      return (await guest.send('POST', '/api/v1/auth/sailors/login', { body })).status === 401;
    });
  });
});
