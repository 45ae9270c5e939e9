import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { createAuthenticator, type Deviation } from '../harness/sign-in/authenticator.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'correct horse battery staple';
const path = '/api/v1/admin/passkeys';
const proof = { old_password: password };

const outcome = ({ status, json }: Answer) => [status, at(json, 'code')];
const bad = [401, 'invalid_passkey'];

onEachTopology('admins sign in with passkeys [admins §2.2]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  const hire = async (email: string) => {
    const id = textAt(await admin.post('/api/v1/admin/admins', { email, password }), 'id');
    const data = await guest.post('/api/v1/admin/login', { email, password }, 200);
    return { id, email, client: createClient(target.url, textAt(data, 'token')) };
  };
  const begin = (client: Client, body: object = proof) => client.post(`${path}/register/options`, body, 200);
  const finish = (client: Client, body: object) => client.send('POST', `${path}/register/verify`, { body });
  const withPasskey = async (client: Client, authenticator = createAuthenticator()) => {
    const answer = await finish(client, authenticator.create(await begin(client)));
    assert.equal(answer.status, 201, answer.text);
    return authenticator;
  };
  const signIn = async (authenticator: ReturnType<typeof createAuthenticator>, deviation?: Deviation) => {
    const ceremony = await guest.post(`${path}/login/options`, {}, 200);
    return guest.send('POST', `${path}/login/verify`, { body: authenticator.get(ceremony, deviation) });
  };

  await t.test('adding one needs the password, and the session that began', async () => {
    const eve = await hire('eve.key@example.com');
    const options = (body: object) => eve.client.send('POST', `${path}/register/options`, { body });
    assert.deepEqual(outcome(await options({})), [403, 'proof_required']);
    assert.deepEqual(outcome(await options({ old_password: 'wrong' })), [403, 'proof_required']);
    assert.equal((await guest.send('POST', `${path}/register/options`, { body: proof })).status, 401);
    const body = createAuthenticator().create(await begin(eve.client));
    assert.deepEqual(outcome(await finish(admin, body)), bad, 'another admin');
    assert.equal((await finish(eve.client, body)).status, 201);
    assert.deepEqual(outcome(await finish(eve.client, body)), bad, 'used');
  });

  await t.test('it signs in, and is both factors when the user was verified', async () => {
    const eva = await hire('eva.key@example.com');
    const verifying = await withPasskey(eva.client);
    const touched = await withPasskey(eva.client, createAuthenticator({ verifies: false }));
    assert.equal(at((await signIn(touched)).json, 'data.admin.email'), eva.email);
    const secret = textAt(await eva.client.post('/api/v1/admin/totp/setup', proof, 200), 'secret');
    await eva.client.post('/api/v1/admin/totp/confirm', { code: totpCode(secret) }, 200);
    const signedIn = await signIn(verifying);
    assert.equal(at(signedIn.json, 'data.admin.id'), eva.id);
    const own = createClient(target.url, textAt(signedIn.json, 'data.token'));
    assert.equal((await own.get('/api/v1/admin/me')).status, 200);
    const first = await signIn(touched);
    assert.deepEqual([first.status, at(first.json, 'data.mfa_required')], [200, true]);
    const second = { mfa_token: textAt(first.json, 'data.mfa_token'), code: totpCode(secret, 1) };
    assert.equal(at(await guest.post('/api/v1/admin/login/mfa', second, 200), 'admin.id'), eva.id);
    assert.deepEqual(outcome(await signIn(verifying, { client: { origin: 'https://evil.example' } })), bad);
  });

  await t.test("a user's key opens no admin, and an admin's no user", async () => {
    await admin.post('/api/v1/collections', { name: 'clerks', type: 'auth' });
    const users = '/api/v1/auth/clerks/passkeys';
    const clerk = await guest.post('/api/v1/auth/clerks/register', { email: 'cleo@example.com', password });
    const client = createClient(target.url, textAt(clerk, 'token'));
    const key = createAuthenticator();
    const added = key.create(await client.post(`${users}/register/options`, {}, 200));
    assert.equal((await client.send('POST', `${users}/register/verify`, { body: added })).status, 201);
    assert.deepEqual(outcome(await signIn(key)), bad);
    const boss = await withPasskey((await hire('boss.key@example.com')).client);
    const body = boss.get(await guest.post(`${users}/login/options`, {}, 200));
    assert.deepEqual(outcome(await guest.send('POST', `${users}/login/verify`, { body })), bad);
    const crossed = boss.get(await guest.post(`${users}/login/options`, {}, 200));
    assert.deepEqual(outcome(await guest.send('POST', `${path}/login/verify`, { body: crossed })), bad);
  });

  await t.test('the admin lists, renames and removes them; a deleted admin has none', async () => {
    const ada = await hire('ada.key@example.com');
    const key = await withPasskey(ada.client);
    const list = async () => listAt((await ada.client.get(path)).json, 'data');
    const id = textAt((await list())[0], 'id');
    const rename = (client: Client) => client.send('PATCH', `${path}/${id}`, { body: { name: 'Key ring' } });
    const remove = (client: Client, body: object) => client.send('DELETE', `${path}/${id}`, { body });
    assert.equal((await rename(admin)).status, 404);
    assert.equal((await rename(ada.client)).status, 200);
    assert.deepEqual(
      (await list()).map(({ name }) => name),
      ['Key ring'],
    );
    assert.equal((await remove(admin, proof)).status, 404);
    assert.deepEqual(outcome(await remove(ada.client, {})), [403, 'proof_required']);
    assert.equal((await remove(ada.client, proof)).status, 200);
    assert.deepEqual(outcome(await signIn(key)), bad);
    const { json } = await admin.get(`/api/v1/admin/audit?target_id=${ada.id}&action=admins.*`);
    assert.deepEqual(
      listAt(json, 'data').map(({ action }) => action),
      ['admins.passkey_remove', 'admins.passkey_add', 'admins.create'],
    );
    const last = await withPasskey(ada.client);
    await admin.delete(`/api/v1/admin/admins/${ada.id}`);
    assert.deepEqual(outcome(await signIn(last)), bad);
  });
});
