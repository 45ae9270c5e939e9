import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { mint } from '../harness/sign-in/tokens.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { auth, clientOf, createUsers, password, signUp } from './users.ts';

onEachTopology('a token ends with the password or the account', async (t, target) => {
  const users = await createUsers(target, { list_rule: null });
  const admin = await target.admin();
  const changed = 'another long password';

  await t.test('a password change returns a new token and ends all earlier ones', async () => {
    const first = await signUp(target, users, 'ann@example.com');
    const ann = clientOf(target, first);
    const path = `${auth}/${users}/change-password`;
    assert.equal((await ann.send('POST', path, { body: { old_password: 'wrong', password: changed } })).status, 422);
    assert.equal((await ann.send('POST', path, { body: { old_password: password, password: 'short' } })).status, 422);
    const fresh = clientOf(target, await ann.post(path, { old_password: password, password: changed }, 200));
    await eventually('the token has ended', async () => (await ann.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal((await fresh.get(`${auth}/${users}/sessions`)).status, 200);
    const login = (given: string) =>
      target.guest.send('POST', `${auth}/${users}/login`, { body: { email: 'ann@example.com', password: given } });
    assert.equal((await login(password)).status, 401);
    assert.equal((await login(changed)).status, 200);
  });

  await t.test('among several parallel password changes, one succeeds', async () => {
    const ann = clientOf(target, await signUp(target, users, 'par@example.com'));
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        ann.send('POST', `${auth}/${users}/change-password`, {
          body: { old_password: password, password: `${changed} ${index}` },
        }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  });

  await t.test("a deleted user's token makes a guest, on public routes too", async () => {
    const first = await signUp(target, users, 'gone@example.com');
    const gone = clientOf(target, first);
    assert.equal((await gone.get(`/api/v1/${users}`)).status, 200);
    await admin.delete(`/api/v1/${users}/${textAt(first, 'record.id')}`);
    await eventually('the token has ended', async () => (await gone.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal((await gone.get(`/api/v1/${users}`)).status, 200, 'as a guest');
  });

  await t.test('a correctly signed token that names no session or account is refused', async () => {
    const known = objectAt(await signUp(target, users, 'ida@example.com'), 'record');
    const claims = { aud: 'user', id: known.id, email: 'ida@example.com', collection: users };
    const statusOf = async (more: object): Promise<number> => {
      const client = createClient(target.url, await mint(target.secret, { ...claims, ...more }));
      return (await client.get(`${auth}/${users}/sessions`)).status;
    };
    assert.equal(await statusOf({}), 200);
    assert.equal(await statusOf({ tv: 1 }), 401);
    assert.equal(await statusOf({ sid: 'made-up' }), 401);
    assert.equal(await statusOf({ id: '01980000-0000-7000-8000-000000000009' }), 401);
    assert.equal(await statusOf({ collection: 'nobody_here' }), 401);
    assert.equal(await statusOf({ collection: 'a"; drop table x --' }), 401);
    assert.equal(await statusOf({ aud: 'admin' }), 401);
  });

  await t.test("signing out ends only the token's session [auth §9.4]", async () => {
    await signUp(target, users, 'leaver@example.com');
    const logIn = async () =>
      clientOf(
        target,
        await target.guest.post(`${auth}/${users}/login`, { email: 'leaver@example.com', password }, 200),
      );
    const [one, other] = [await logIn(), await logIn()];
    const answer = await one.send('POST', `${auth}/${users}/logout`);
    assert.deepEqual([answer.status, answer.json], [200, { data: null }]);
    assert.equal((await one.send('POST', `${auth}/${users}/logout`)).status, 401);
    await eventually('the token has ended', async () => (await one.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal((await other.get(`${auth}/${users}/sessions`)).status, 200);
    assert.equal((await target.guest.send('POST', `${auth}/${users}/logout`)).status, 401);
    assert.equal((await other.send('POST', `${auth}/${await createUsers(target)}/logout`)).status, 403);
    assert.equal((await other.send('POST', '/api/v1/admin/logout')).status, 403);
    const email = `leaving_${users}@example.com`;
    await admin.post('/api/v1/admin/admins', { email, password });
    const root = clientOf(target, await target.guest.post('/api/v1/admin/login', { email, password }, 200));
    assert.equal((await root.send('POST', '/api/v1/admin/logout')).status, 200);
    assert.equal((await root.send('POST', '/api/v1/admin/logout')).status, 401);
  });

  await t.test('an admin who is changed or deleted is signed out', async () => {
    const email = `${users}@example.com`;
    const { id } = await admin.post('/api/v1/admin/admins', { email, password });
    const logIn = async () =>
      clientOf(target, await target.guest.post('/api/v1/admin/login', { email, password }, 200));
    const second = await logIn();
    assert.equal(listAt((await second.get('/api/v1/admin/sessions')).json, 'data').length, 1);
    await admin.patch(`/api/v1/admin/admins/${id}`, { password });
    await eventually('the token has ended', async () => (await second.get('/api/v1/admin/me')).status === 401);
    const third = await logIn();
    await admin.delete(`/api/v1/admin/admins/${id}`);
    await eventually('the token has ended', async () => (await third.get('/api/v1/admin/me')).status === 401);
  });
});
