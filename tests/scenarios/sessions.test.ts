import assert from 'node:assert/strict';
import { decodeJwt, SignJWT } from 'jose';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { mint } from '../harness/sign-in/tokens.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { auth, clientOf, createUsers, password, signUp } from './users.ts';

onEachTopology('a user manages their sessions', async (t, target) => {
  const users = await createUsers(target);
  const other = await createUsers(target);
  const first = await signUp(target, users, 'ann@example.com');
  const ann = clientOf(target, first);
  const second = await target.guest.post(`${auth}/${users}/login`, { email: 'ann@example.com', password }, 200);
  const phone = clientOf(target, second);
  const stranger = clientOf(target, await signUp(target, other, 'otto@example.com'));

  await t.test('the list has all sessions and marks the current one', async () => {
    const { status, json } = await phone.get(`${auth}/${users}/sessions`);
    assert.equal(status, 200);
    const sessions = listAt(json, 'data');
    assert.equal(sessions.length, 2);
    for (const one of sessions)
      assert.deepEqual(Object.keys(one).sort(), ['created_at', 'current', 'id', 'ip', 'last_used_at', 'user_agent']);
    assert.deepEqual(sessions.map(({ current }) => current).sort(), [false, true]);
  });

  await t.test('a refreshed token belongs to the same session', async () => {
    const refreshed = await ann.post('/api/v1/auth/refresh', {}, 200);
    assert.deepEqual(textAt(refreshed, 'record.email'), 'ann@example.com');
    assert.notEqual(textAt(refreshed, 'token'), textAt(first, 'token'));
    assert.equal(listAt((await ann.get(`${auth}/${users}/sessions`)).json, 'data').length, 2);
  });

  await t.test(
    'a session lasts as long as its tokens, and a refresh soon after another writes nothing [auth §9.2]',
    async () => {
      const { sid, exp } = decodeJwt(textAt(first, 'token'));
      const select = 'select expires_at, xmin::text as version from system.sessions where id = $1';
      const shorten = 'update system.sessions set expires_at = expires_at - 100 where id = $1';
      await inDatabase(target, shorten, [sid]);
      const refreshed = async () => {
        const { exp: expiresAt } = decodeJwt(textAt(await ann.post('/api/v1/auth/refresh', {}, 200), 'token'));
        const [row] = await inDatabase(target, select, [sid]);
        assert.ok(Number(expiresAt) >= Number(exp) && Number(row?.expires_at) >= Number(expiresAt));
        return row?.version;
      };
      // The last use is written twice a minute, perhaps between two refreshes.
      await eventually('a refresh writes nothing', async () => {
        const before = await refreshed();
        return before === (await refreshed());
      });
    },
  );

  await t.test('other callers can neither list nor end them', async () => {
    const listed = listAt((await ann.get(`${auth}/${users}/sessions`)).json, 'data');
    const otherId = textAt(
      listed.find(({ current }) => current !== true),
      'id',
    );
    assert.equal((await stranger.get(`${auth}/${users}/sessions`)).status, 403);
    await stranger.delete(`${auth}/${other}/sessions/${otherId}`, 404);
    assert.equal((await target.guest.get(`${auth}/${users}/sessions`)).status, 401);
    assert.equal((await (await target.admin()).get(`${auth}/${users}/sessions`)).status, 403);
    assert.equal((await phone.get(`${auth}/${users}/sessions`)).status, 200);
  });

  await t.test("an ended session's token is refused within a second", async () => {
    const list = listAt((await ann.get(`${auth}/${users}/sessions`)).json, 'data');
    const otherId = textAt(
      list.find(({ current }) => current !== true),
      'id',
    );
    await ann.delete(`${auth}/${users}/sessions/${otherId}`);
    await eventually('the token has ended', async () => (await phone.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal((await phone.send('POST', '/api/v1/auth/refresh', { body: {} })).status, 401);
    assert.equal((await ann.get(`${auth}/${users}/sessions`)).status, 200);
    await ann.delete(`${auth}/${users}/sessions/${otherId}`, 404);
  });

  await t.test('a user ends all other sessions at once', async () => {
    const third = clientOf(
      target,
      await target.guest.post(`${auth}/${users}/login`, { email: 'ann@example.com', password }, 200),
    );
    await third.delete(`${auth}/${users}/sessions`);
    await eventually('the token has ended', async () => (await ann.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal(listAt((await third.get(`${auth}/${users}/sessions`)).json, 'data').length, 1);
  });
});

onEachTopology('only valid session tokens are accepted', async (t, target) => {
  const users = await createUsers(target);
  const ann = objectAt(await signUp(target, users, 'ann@example.com'), 'record');
  const nowSec = Math.floor(Date.now() / 1000);
  const claims = { aud: 'user', id: ann.id, email: 'ann@example.com', collection: users };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const unsigned = encode({ ...claims, iat: nowSec, exp: nowSec + 600 });
  const typed = (typ: string) =>
    new SignJWT({ iat: nowSec, exp: nowSec + 600, ...claims })
      .setProtectedHeader({ alg: 'HS256', typ })
      .sign(new TextEncoder().encode(target.secret));
  const tokens: Record<string, string> = {
    'without a signature': `${encode({ alg: 'none', typ: 'JWT' })}.${unsigned}.`,
    'signed with another algorithm': await new SignJWT({ iat: nowSec, exp: nowSec + 600, ...claims })
      .setProtectedHeader({ alg: 'HS512', typ: 'JWT' })
      .sign(new TextEncoder().encode(target.secret)),
    'signed with another secret': await mint('x'.repeat(64), claims),
    'that has expired': await mint(target.secret, { ...claims, exp: nowSec - 1 }),
    'issued in the future': await mint(target.secret, { ...claims, iat: nowSec + 3600, exp: nowSec + 7200 }),
    'without an expiry': await mint(target.secret, { ...claims, exp: undefined }),
    'for both users and admins': await mint(target.secret, { ...claims, aud: ['user', 'admin'] }),
    'for files': await mint(target.secret, { ...claims, aud: 'file' }),
    'of another type': await typed('file+jwt'),
    'of a user, for admins': await mint(target.secret, { ...claims, aud: 'admin' }),
  };
  await runScenarios(
    t,
    target,
    Object.entries(tokens).flatMap(([which, token]): Scenario[] =>
      [`GET ${auth}/${users}/sessions`, 'POST /api/v1/auth/refresh'].map((request) => ({
        name: `a token ${which}: ${request.replace(users, '<col>')}`,
        request,
        ...(request.startsWith('POST') && { body: {} }),
        headers: { Authorization: `Bearer ${token}` },
        expect: refused.unauthenticated,
        spec: 'http §6.2',
      })),
    ),
  );
});
