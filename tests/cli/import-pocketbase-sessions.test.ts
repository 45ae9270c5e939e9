import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import type { PocketBaseData } from '../harness/pocketbase/data.ts';
import { prepareMove } from '../harness/pocketbase/move.ts';
import { type PocketBaseToken, signPocketBaseToken } from '../harness/pocketbase/tokens.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { startStack } from '../harness/stacks/stack.ts';

/** `secret-of-ada`, by bcrypt with cost 5. */
const hash = '$2a$05$Gbxb1Ff3icUEfIaU4oOokecihibm23J0noMRDQx3CaMmNsSoQh7Hm';
const password = 'secret-of-ada';

const secret = 's'.repeat(50);
const [people, others] = ['_pb_users_auth_', 'pbc_others'];
const id = (name: string) => name.padEnd(15, '0');
const tokenKeyOf = (name: string) => `key of ${name} `.padEnd(50, 'k');
const names = [
  'ada',
  'bob',
  'cid',
  'dee',
  'eve',
  'fay',
  'gil',
  'hal',
  'ina',
  'jon',
  'kim',
  'lea',
  'max',
  'ned',
  'oda',
  'pia',
];

function fill(data: PocketBaseData): void {
  const times = { created: '2025-01-01 10:00:00.000Z', updated: '2025-01-02 10:00:00.000Z' };
  for (const [collectionId, name] of [
    [people, 'users'],
    [others, 'others'],
  ] as const) {
    data.define({
      id: collectionId,
      name,
      type: 'auth',
      fields: [{ name: 'name', type: 'text' }],
      rules: { list: 'id = @request.auth.id', view: 'id = @request.auth.id', update: 'id = @request.auth.id' },
      options: { authRule: '', passwordAuth: { enabled: true, identityFields: ['email'] }, authToken: { secret } },
    });
    for (const who of name === 'users' ? names : ['zoe'])
      data.insert(name, {
        ...{ id: id(who), email: `${who}@example.com`, name: who, password: hash, tokenKey: tokenKeyOf(who) },
        ...{ verified: 1, emailVisibility: 0, ...times },
      });
  }
}

/** A token that PocketBase gave to one of the users. */
const tokenOf = (who: string, claims: Partial<PocketBaseToken> = {}, key = tokenKeyOf(who) + secret): string =>
  signPocketBaseToken(key, { id: id(who), collectionId: people, ...claims });

suite('sessions that move in from PocketBase', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const { data, ground, stack, admin, move } = await prepareMove(tidying, fill);
  const as = (token: string) => createClient(stack.url, token);
  const own = (token: string, name: string) => as(token).get(`/api/v1/records/users/${id(name)}`);
  const isIn = async (token: string, name: string) => (await own(token, name)).status === 200;
  const refresh = (token: string) => as(token).send('POST', '/api/v1/auth/refresh');
  const login = async (name: string) => {
    const body = { identity: `${name}@example.com`, password };
    return textAt((await stack.guest.send('POST', '/api/v1/auth/users/login', { body })).json, 'data.token');
  };
  const ends = (token: string, name: string) =>
    eventually(`the token of ${name} ends`, async () => (await own(token, name)).status === 401);

  test('an import says how many accounts stay signed in', async () => {
    const { code, json, stderr } = await move();
    assert.equal(code, 0, stderr);
    const kept = listAt(json, 'collections').map((one) => [at(one, 'to'), at(one, 'sessions_kept')]);
    assert.deepEqual(
      new Map(kept as [string, number][]),
      new Map([
        ['users', names.length],
        ['others', 1],
      ]),
    );
    const again = await move();
    assert.deepEqual(
      listAt(again.json, 'collections').map((one) => at(one, 'sessions_kept')),
      [0, 0],
    );
  });

  test('a token of PocketBase is a session of its account, once for all uses [move §2.8]', async () => {
    const token = tokenOf('ada');
    const answers = await Promise.all(Array.from({ length: 10 }, () => own(token, 'ada')));
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array.from({ length: 10 }, () => 200),
    );
    const { json } = await as(token).get('/api/v1/auth/users/sessions');
    assert.deepEqual(
      listAt(json, 'data').map((session) => at(session, 'current')),
      [true],
    );
    assert.equal(await isIn(token, 'bob'), false, "another account's record");
  });

  test('forged, foreign, expired and other tokens are refused [move §2.8]', async () => {
    const claims = { id: id('bob'), collectionId: people };
    const soon = Math.floor(Date.now() / 1000) - 1;
    const good = tokenOf('bob');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`;
    const refused: Readonly<Record<string, string>> = {
      'another key': tokenOf('bob', {}, tokenKeyOf('ada') + secret),
      'the tokenKey alone': tokenOf('bob', {}, tokenKeyOf('bob')),
      expired: tokenOf('bob', { exp: soon }),
      'no algorithm': none,
      'another algorithm': signPocketBaseToken(tokenKeyOf('bob') + secret, claims, { alg: 'RS256', typ: 'JWT' }),
      'HS512 in the header': signPocketBaseToken(tokenKeyOf('bob') + secret, claims, { alg: 'HS512', typ: 'JWT' }),
      'another collection': tokenOf('bob', { collectionId: others }),
      'the name instead of the id': tokenOf('bob', { collectionId: 'users' }),
      'a file token': tokenOf('bob', { type: 'file' }),
      'an unknown account': signPocketBaseToken(tokenKeyOf('bob') + secret, { id: id('nobody'), collectionId: people }),
      'without a signature': good.slice(0, good.lastIndexOf('.') + 1),
    };
    for (const [why, token] of Object.entries(refused)) assert.equal((await own(token, 'bob')).status, 401, why);
    const { json } = await admin.get(`/api/v1/admin/users/users/${id('bob')}`);
    assert.deepEqual(listAt(json, 'data.sessions'), [], 'none of them opened a session');
    assert.equal(await isIn(good, 'bob'), true);
  });

  test('a refresh answers one of our tokens, for the same session [move §2.8]', async () => {
    const token = tokenOf('cid');
    const refreshed = textAt((await refresh(token)).json, 'data.token');
    assert.notEqual(refreshed, token);
    assert.equal(await isIn(refreshed, 'cid'), true);
    assert.equal((await as(refreshed).send('POST', '/api/v1/auth/users/logout')).status, 200);
    await ends(refreshed, 'cid');
    await ends(token, 'cid');
    const [signed, signature = ''] = [token.slice(0, token.lastIndexOf('.')), token.split('.')[2]];
    // The last character of a signature has two bits that mean nothing.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet[alphabet.indexOf(signature.slice(-1)) ^ 1] ?? '';
    assert.equal(await isIn(`${signed}.${signature.slice(0, -1)}${last}`, 'cid'), false, 'written in another way');
    assert.equal(
      await isIn(tokenOf('cid', { exp: Math.floor(Date.now() / 1000) + 1800 }), 'cid'),
      true,
      'another token',
    );
  });

  test('a token that is not refreshable keeps its end [move §2.8]', async () => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const token = tokenOf('dee', { refreshable: false, exp });
    let latest = token;
    for (let times = 0; times < 2; times += 1) {
      latest = textAt((await refresh(latest)).json, 'data.token');
      const claims: unknown = JSON.parse(Buffer.from(latest.split('.')[1] ?? '', 'base64url').toString());
      assert.ok(Number(at(claims, 'exp')) <= exp);
    }
    assert.equal(await isIn(latest, 'dee'), true);
  });

  test('signing out everywhere ends all of them, used or not [move §2.8]', async () => {
    const [used, unused] = [tokenOf('eve'), tokenOf('eve', { exp: Math.floor(Date.now() / 1000) + 900 })];
    assert.equal(await isIn(used, 'eve'), true);
    const mine = await login('eve');
    assert.equal((await as(mine).send('DELETE', '/api/v1/auth/users/sessions')).status, 200);
    await ends(used, 'eve');
    assert.equal(await isIn(unused, 'eve'), false);
    assert.equal(await isIn(mine, 'eve'), true);
  });

  test('signing out everywhere else keeps the session of the token that asks [move §2.8]', async () => {
    const [mine, other] = [tokenOf('fay'), tokenOf('fay', { exp: Math.floor(Date.now() / 1000) + 900 })];
    assert.equal((await as(mine).send('DELETE', '/api/v1/auth/users/sessions')).status, 200);
    assert.equal(await isIn(mine, 'fay'), true);
    assert.equal(await isIn(other, 'fay'), false);
  });

  test('a new password ends them, and a later run does not bring them back [move §2.8]', async () => {
    const [used, unused] = [tokenOf('gil'), tokenOf('gil', { exp: Math.floor(Date.now() / 1000) + 900 })];
    assert.equal(await isIn(used, 'gil'), true);
    const body = { password: 'another-secret-of-gil', old_password: password };
    const changed = await as(used).send('PATCH', `/api/v1/records/users/${id('gil')}`, { body });
    assert.equal(changed.status, 200, changed.text);
    await ends(used, 'gil');
    assert.equal(await isIn(unused, 'gil'), false);
    data.database.exec(`update users set tokenKey = '${'n'.repeat(50)}' where id = '${id('gil')}'`);
    await move();
    assert.equal(await isIn(unused, 'gil'), false);
    assert.equal(await isIn(tokenOf('gil', {}, 'n'.repeat(50) + secret), 'gil'), false);
  });

  test('blocked, deleted, refused and two-factor accounts stay out [move §2.8]', async () => {
    await admin.send('POST', `/api/v1/admin/users/users/${id('hal')}/block`);
    assert.equal(await isIn(tokenOf('hal'), 'hal'), false, 'blocked');
    const used = tokenOf('ina');
    assert.equal(await isIn(used, 'ina'), true);
    await admin.send('DELETE', `/api/v1/records/users/${id('ina')}`);
    const body = { email: 'ina@example.com', password: 'new-secret-of-ina' };
    assert.equal((await admin.send('PUT', `/api/v1/records/users/${id('ina')}`, { body })).status, 201);
    await ends(used, 'ina');
    assert.equal((await own(tokenOf('ina', { exp: 2_000_000_000 }), 'ina')).status, 401, 'made again with the same id');
    const rule = { sign_in_rule: 'name != "jon"' };
    assert.equal((await admin.send('PATCH', '/api/v1/collections/users', { body: rule })).status, 200);
    assert.equal(await isIn(tokenOf('jon'), 'jon'), false, 'sign_in_rule');
    assert.equal(await isIn(tokenOf('kim'), 'kim'), true);
    const mine = as(await login('max'));
    const { secret: appSecret } = await mine.post('/api/v1/auth/users/totp/setup', { old_password: password }, 200);
    await mine.post('/api/v1/auth/users/totp/confirm', { code: totpCode(String(appSecret)) }, 200);
    assert.equal(await isIn(tokenOf('max'), 'max'), false, 'an authenticator app since');
  });

  test('an account that must set up a second factor brings no session [move §2.8]', async () => {
    const open = tokenOf('pia');
    assert.equal(await isIn(open, 'pia'), true);
    const settings = '/api/v1/admin/settings';
    await admin.patch(settings, { 'auth.mfa.required.users': 'name = "oda" || name = "pia"' });
    await eventually('the rule applies', async () => {
      const { json } = await refresh(open);
      return at(json, 'data.mfa_enrollment_required') === true && at(json, 'data.token') === undefined;
    });
    assert.equal(await isIn(open, 'pia'), true, 'an open session lasts until its token ends');
    assert.equal(await isIn(tokenOf('oda'), 'oda'), false);
    const refreshed = await refresh(tokenOf('oda', { exp: 2_000_000_000 }));
    assert.equal(refreshed.status, 401, refreshed.text);
    const { json } = await admin.get(`/api/v1/admin/users/users/${id('oda')}`);
    assert.deepEqual(listAt(json, 'data.sessions'), []);
    assert.equal(await isIn(tokenOf('kim'), 'kim'), true, 'others stay signed in');
    await admin.patch(settings, { 'auth.mfa.required.users': '' });
    await eventually('the rule is gone', () => isIn(tokenOf('oda'), 'oda'));
  });

  test('two replicas open one session, and a sign-out at one ends it at the other [move §2.8]', async () => {
    await using other = await startStack({ topology: 'one', beside: ground });
    const token = tokenOf('ned');
    const there = createClient(other.url, token);
    const path = '/api/v1/auth/users/sessions';
    const answers = await Promise.all([as(token), there, as(token), there].map((client) => client.get(path)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.equal(listAt((await there.get(path)).json, 'data').length, 1);
    assert.equal((await there.send('POST', '/api/v1/auth/users/logout')).status, 200);
    await ends(token, 'ned');
  });

  test('a later run takes a new tokenKey of PocketBase, and ends what it ended there [move §2.8]', async () => {
    const exp = Math.floor(Date.now() / 1000) + 1200;
    const old = tokenOf('lea', { exp });
    assert.equal(await isIn(old, 'lea'), true, 'used before it ends');
    const refreshed = textAt(
      (await refresh(tokenOf('lea', { exp: Math.floor(Date.now() / 1000) + 1000 }))).json,
      'data.token',
    );
    data.database.exec(`update users set tokenKey = '${'m'.repeat(50)}' where id = '${id('lea')}'`);
    const { json } = await move();
    assert.equal(
      at(
        listAt(json, 'collections').find((one) => at(one, 'to') === 'users'),
        'sessions_kept',
      ),
      1,
    );
    await ends(old, 'lea');
    await ends(refreshed, 'lea');
    assert.equal(await isIn(tokenOf('lea', { exp }, 'm'.repeat(50) + secret), 'lea'), true, 'made in the same second');
    assert.equal(await isIn(tokenOf('bob'), 'bob'), true, "others' sessions stay");
  });

  test('a later run with --sessions end ends what an earlier one kept [move §2.8]', async () => {
    const own = await login('ned');
    assert.equal(await isIn(tokenOf('ned'), 'ned'), true);
    const { code, stderr } = await move('--sessions', 'end');
    assert.equal(code, 0, stderr);
    await ends(tokenOf('ned'), 'ned');
    await ends(tokenOf('bob'), 'bob');
    assert.equal(await isIn(tokenOf('kim'), 'kim'), false, 'a token that would open its session now');
    assert.equal(await isIn(own, 'ned'), true, 'a sign-in here stays');
  });
});
