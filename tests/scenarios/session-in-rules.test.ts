import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { openLive } from '../harness/clients/live-client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { createAuthenticator, type Deviation, flag } from '../harness/sign-in/authenticator.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const auth = '/api/v1/auth/agents';
const twoFactors = '@request.auth.factors = "mfa"';

onEachTopology("rules read the session's factors and its sign-in [auth §6.9]", async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post('/api/v1/collections', {
    name: 'agents',
    type: 'auth',
    fields: [{ name: 'badge', type: 'text', view_rule: twoFactors }],
  });
  const closed = { list_rule: twoFactors, view_rule: twoFactors, update_rule: null, delete_rule: '' };
  await admin.post('/api/v1/collections', {
    name: 'dossiers',
    ...closed,
    create_rule: '@request.auth.signed_in_at > @now-1h && ("password" in @request.auth.factors)',
    fields: [{ name: 'title', type: 'text' }],
  });
  await admin.post('/api/v1/collections', {
    name: 'stale',
    list_rule: '',
    create_rule: '@request.auth.signed_in_at < @now-1h',
    fields: [],
  });
  const dossier = await admin.create('dossiers', { title: 'secret' });
  const clientOf = ({ status, json, text }: Answer): Client => {
    assert.ok(status < 300, text);
    return createClient(target.url, textAt(json, 'data.token'));
  };
  const email = 'ada@example.com';
  const registered = await guest.send('POST', `${auth}/register`, { body: { email, password, badge: '007' } });
  const one = clientOf(registered);
  const id = textAt(registered.json, 'data.record.id');
  const { secret } = (await one.post(`${auth}/totp/setup`, undefined, 200)) as { secret: string };
  const confirmed = await one.post(`${auth}/totp/confirm`, { code: totpCode(secret) }, 200);
  const codes = listAt(confirmed, 'codes').map(String);
  const begin = async () =>
    textAt((await guest.send('POST', `${auth}/login`, { body: { email, password } })).json, 'data.mfa_token');
  const finish = async (factor: object) =>
    guest.send('POST', `${auth}/login/mfa`, { body: { mfa_token: await begin(), ...factor } });
  const finished = await finish({ recovery_code: codes[0] });
  const both = clientOf(finished);

  const seen = async (client: Client) => listAt((await client.get('/api/v1/dossiers')).json, 'data').length;

  await t.test('one factor is not two, in lists, gets, filters of fields, and answers of sign-ins', async () => {
    assert.deepEqual([await seen(one), await seen(both), await seen(guest)], [0, 1, 0]);
    assert.equal((await one.send('GET', `/api/v1/dossiers/${dossier.id}`)).status, 403);
    assert.equal((await both.send('GET', `/api/v1/dossiers/${dossier.id}`)).status, 200);
    const badge = async (client: Client) => at((await client.get(`/api/v1/agents/${id}`)).json, 'data.badge');
    assert.deepEqual([await badge(one), await badge(both)], [undefined, '007']);
    assert.equal(at(registered.json, 'data.record.badge'), undefined);
    assert.equal(at(finished.json, 'data.record.badge'), '007');
  });

  await t.test('a refresh keeps them, and so does a new password', async () => {
    const refreshed = await both.send('POST', '/api/v1/auth/refresh');
    assert.equal(at(refreshed.json, 'data.record.badge'), '007');
    assert.equal(await seen(clientOf(refreshed)), 1);
    const more = clientOf(await finish({ recovery_code: codes[1] }));
    const body = { old_password: password, password };
    assert.equal(await seen(clientOf(await more.send('POST', `${auth}/change-password`, { body }))), 1);
  });

  await t.test('an admin who acts as the user has no factor, and no sign-in', async () => {
    const acting = clientOf(await admin.send('POST', `/api/v1/admin/impersonate/agents/${id}`));
    assert.equal(await seen(acting), 0);
    assert.equal((await acting.send('POST', '/api/v1/dossiers', { body: { title: 'x' } })).status, 403);
    assert.equal((await acting.send('POST', '/api/v1/stale', { body: {} })).status, 403);
  });

  await t.test('the time of the sign-in, and a factor by its name', async () => {
    const fresh = clientOf(await finish({ recovery_code: codes[2] }));
    assert.equal((await fresh.send('POST', '/api/v1/dossiers', { body: { title: 'mine' } })).status, 201);
    assert.equal((await fresh.send('POST', '/api/v1/stale', { body: {} })).status, 403);
    assert.equal((await guest.send('POST', '/api/v1/dossiers', { body: { title: 'mine' } })).status, 403);
  });

  await t.test('live changes', async () => {
    const follower = clientOf(await finish({ recovery_code: codes[3] }));
    const tokenOf = async (client: Client) =>
      textAt((await client.send('POST', '/api/v1/auth/refresh')).json, 'data.token');
    const joined = await guest.send('POST', `${auth}/register`, { body: { email: 'b@example.com', password } });
    const [single, other] = [clientOf(joined), textAt(joined.json, 'data.record.id')];
    await using sees = await openLive(target.url, [{ id: 's', collection: 'dossiers' }], {
      token: await tokenOf(follower),
    });
    await using seesNot = await openLive(
      target.url,
      [
        { id: 's', collection: 'dossiers' },
        { id: 'own', collection: 'agents', record: other },
      ],
      {
        token: await tokenOf(single),
      },
    );
    await Promise.all([sees, seesNot].map((live) => live.arrived('ready')));
    const made = await admin.create('dossiers', { title: 'live' });
    // The record that another test made may come before it.
    await eventually('the change', () =>
      sees.messages.some(({ type, data }) => type === 'create' && at(data, 'record.id') === made.id),
    );
    // A later change, which the other may see, ends the waiting.
    await single.send('PATCH', `/api/v1/agents/${other}`, {
      body: { badge: 'b' },
    });
    await seesNot.arrived('update');
    assert.deepEqual(
      seesNot.messages.filter(({ type }) => type === 'create'),
      [],
    );
  });

  await t.test('a passkey that verified its user is two factors; without it, it is one', async () => {
    const owner = clientOf(
      await guest.send('POST', `${auth}/register`, { body: { email: 'c@example.com', password } }),
    );
    const authenticator = createAuthenticator();
    const options = await owner.post(`${auth}/passkeys/register/options`, {}, 200);
    await owner.post(`${auth}/passkeys/register/verify`, authenticator.create(options));
    const signIn = async (deviation: Deviation) => {
      const begun = await guest.post(`${auth}/passkeys/login/options`, {}, 200);
      const body = authenticator.get(begun, deviation);
      return clientOf(await guest.send('POST', `${auth}/passkeys/login/verify`, { body }));
    };
    assert.equal((await seen(await signIn({}))) > 0, true);
    assert.equal(await seen(await signIn({ flags: flag.present | flag.copyable | flag.copied })), 0);
  });

  await t.test('what cannot be compared is refused where the rule is saved', async () => {
    for (const rule of [
      '@request.auth.factors > 1',
      '@request.auth.factors:lower = "x"',
      '@request.auth.signed_in_at = "yesterday"',
      '@request.auth.factor = "mfa"',
    ]) {
      const { status, text } = await admin.send('PATCH', '/api/v1/collections/stale', { body: { create_rule: rule } });
      assert.equal(status, 422, `${rule}: ${text}`);
    }
  });

  await t.test('a session of an earlier version has no factors', async () => {
    const old = clientOf(await finish({ recovery_code: codes[4] }));
    assert.equal((await seen(old)) > 0, true);
    const [session] = listAt((await old.get(`${auth}/sessions`)).json, 'data').filter(({ current }) => current);
    await inDatabase(target, 'update system.sessions set factors = null where id = $1', [session?.id]);
    await inDatabase(target, 'insert into system.revocations (subject) values ($1)', [session?.id]);
    await eventually('the session has none', async () => (await seen(old)) === 0);
    assert.equal((await old.send('POST', '/api/v1/auth/refresh')).status, 200);
  });
});
