import assert from 'node:assert/strict';
import { type Answer, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { startOidcServer } from '../harness/servers/oidc-server.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const setting = 'auth.methods.doorkeepers';

onEachTopology('a collection takes only the ways to sign in that its setting names [auth §1.6]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await using mail = await startMailServer();
  await using provider = await startOidcServer('http://localhost/back');
  for (const name of ['doorkeepers', 'passers_by']) await admin.post('/api/v1/collections', { name, type: 'auth' });
  const path = (route: string, collection = 'doorkeepers') => `/api/v1/auth/${collection}/${route}`;
  const post = (route: string, body: object = {}, collection?: string) =>
    guest.send('POST', path(route, collection), { body });
  const isOff = ({ status, json }: Answer) => status === 422 && at(json, 'code') === 'feature_disabled';
  const off = (answer: Answer, what: string) => assert.ok(isOff(answer), `${what}: ${answer.status} ${answer.text}`);
  const on = (answer: Answer, what: string) => assert.ok(!isOff(answer), `${what}: ${answer.status} ${answer.text}`);
  const patch = (settings: object) => admin.send('PATCH', '/api/v1/admin/settings', { body: settings });
  const email = 'dora@example.com';
  await patch({ ...mail.settings, ...provider.settings(), 'auth.otp.enabled': '1', 'auth.anonymous.enabled': '1' });
  const registered = await guest.post(path('register'), { email, password });
  const [dora, doraId] = [textAt(registered, 'token'), textAt(registered, 'record.id')];

  /** Each way, with requests that it needs. */
  const ways = {
    password: [
      ['login', { email, password }],
      ['register', { email: 'other', password }],
      ['request-password-reset', { email }],
      ['confirm-password-reset', { token: 'none', password }],
    ],
    otp: [
      ['otp/request', { email }],
      ['otp/auth', { token: 'none' }],
    ],
    oauth2: [
      ['oauth2/exchange', { provider: 'oidc', code: 'none', redirectUri: 'http://localhost/back' }],
      ['oauth2/merge-confirm', { merge_token: 'none', password }],
    ],
    passkey: [['passkeys/login/options', {}]],
    anonymous: [['anonymous', { email: 1 }]],
  } as const satisfies Record<string, readonly (readonly [string, object])[]>;

  async function takes(named: string, taken: readonly string[]): Promise<void> {
    assert.equal((await patch({ [setting]: named })).status, 200);
    const probe = async () => {
      const answers = await Promise.all(
        Object.values(ways).map(([[route, body]]) => post(route, body).then((answer) => !isOff(answer))),
      );
      return Object.keys(ways)
        .filter((_, index) => answers[index])
        .join();
    };
    await eventually(`only ${named} is taken`, async () => (await probe()) === taken.join());
    for (const [way, requests] of Object.entries(ways))
      for (const [route, body] of requests)
        (taken.includes(way) ? on : off)(await post(route, body), `${route} with ${named}`);
  }

  await t.test('the setting takes ways, or none', async () => {
    for (const [text, message] of [
      ['sms', /must be some of password, otp/],
      [',', /must name some/],
      ['otp,otp', /twice/],
      ['none,otp', /none alone/],
      ['Password', /must be some of/],
    ] as const) {
      const { status, json } = await patch({ [setting]: text });
      assert.equal(status, 422, text);
      assert.match(String(Object(at(json, 'details'))[setting]), message);
    }
    assert.equal((await patch({ 'auth.methods.nowhere': 'otp' })).status, 422);
  });

  await t.test('every other way is 422, and the same in another collection is not', async () => {
    await takes('otp, oauth2', ['otp', 'oauth2']);
    for (const [route, body] of ways.password) on(await post(route, body, 'passers_by'), route);
    await takes('password,passkey', ['password', 'passkey']);
    await takes('anonymous', ['anonymous']);
    await takes('none', []);
  });

  await t.test('a session stays, and its holder adds no passkey', async () => {
    const session = createClient(target.url, dora);
    assert.equal((await session.send('POST', '/api/v1/auth/refresh')).status, 200);
    off(await session.send('POST', path('passkeys/register/options'), { body: {} }), 'adding');
    assert.equal((await session.send('GET', path('passkeys'))).status, 200);
  });

  await t.test('there are no providers, and no mail for a new password from an admin', async () => {
    assert.deepEqual((await guest.get(path('oauth2/providers'))).json, { data: [] });
    assert.equal(Object((await guest.get(path('oauth2/providers', 'passers_by'))).json).data.length, 1);
    off(await admin.send('POST', `/api/v1/admin/users/doorkeepers/${doraId}/password-reset`), 'password-reset');
  });

  await t.test('an anonymous user gets no password', async () => {
    await takes('anonymous,oauth2', ['oauth2', 'anonymous']);
    const visitor = textAt(await guest.post(path('anonymous'), {}), 'token');
    off(
      await createClient(target.url, visitor).send('POST', path('promote'), {
        body: { email: 'v@example.com', password },
      }),
      'promote',
    );
  });

  await t.test('without the setting, every way that is on is taken', async () => {
    await takes('', Object.keys(ways));
    assert.equal((await post('login', { email, password })).status, 200);
  });
});
