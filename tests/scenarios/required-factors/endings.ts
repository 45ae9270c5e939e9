import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, textAt } from '../../harness/json.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { auth, type Officers, password, tokenIn } from './officers.ts';

const statusAndCode = ({ status, json }: Answer) => [status, at(json, 'code')];

/** What ends a sign-in that waits for a second factor, and what an open session may still do. */
export async function endings(t: TestContext, target: Target, officers: Officers): Promise<void> {
  const { admin, as, login, commission, begin } = officers;

  const isLive = async (token: string) =>
    (await as(token).send('POST', `${auth}/totp/setup`, { body: {} })).status === 200;
  const waiting = async () => {
    const account = await commission();
    const token = await begin(account.email);
    assert.equal(await isLive(token), true);
    return { ...account, token };
  };

  await t.test('by a new password, of the user or by an admin', async () => {
    const changed = await waiting();
    const body = { old_password: password, password: `${password} 2` };
    const next = tokenIn(await as(changed.session).send('POST', `${auth}/change-password`, { body }));
    assert.equal(await isLive(changed.token), false);
    assert.equal(await isLive(next), true, 'the change of the password is a sign-in');
    await admin.patch(`/api/v1/officers/${changed.id}`, { password: `${password} 3` });
    assert.equal(await isLive(next), false);
  });

  await t.test('by a sign-out everywhere, of the user or by an admin', async () => {
    const out = await waiting();
    await as(out.session).delete(`${auth}/sessions`);
    assert.equal(await isLive(out.token), false);
    const thrown = await waiting();
    await admin.delete(`/api/v1/admin/users/officers/${thrown.id}/sessions`);
    assert.equal(await isLive(thrown.token), false);
    assert.equal(await isLive(await begin(thrown.email)), true, 'the next sign-in has its own');
  });

  await t.test('by a block, for good', async () => {
    const blocked = await waiting();
    const account = `/api/v1/admin/users/officers/${blocked.id}`;
    const refresh = () => as(blocked.session).send('POST', '/api/v1/auth/refresh');
    const renewed = tokenIn(await refresh());
    await admin.post(`${account}/block`, {}, 200);
    assert.deepEqual([await isLive(blocked.token), await isLive(renewed)], [false, false]);
    assert.deepEqual(statusAndCode(await login(blocked.email)), [403, 'blocked']);
    await eventually('the session has ended', async () => (await refresh()).status === 401);
    await admin.post(`${account}/unblock`, {}, 200);
    assert.deepEqual([await isLive(blocked.token), await isLive(renewed)], [false, false], 'it stays ended');
  });

  await t.test('by a block between its set-up and its code', async () => {
    const blocked = await waiting();
    const { secret } = (await as(blocked.token).post(`${auth}/totp/setup`, {}, 200)) as { secret: string };
    await admin.post(`/api/v1/admin/users/officers/${blocked.id}/block`, {}, 200);
    const body = { code: totpCode(secret) };
    assert.equal((await as(blocked.token).send('POST', `${auth}/totp/confirm`, { body })).status, 401);
    const { json } = await admin.get(`/api/v1/admin/users/officers/${blocked.id}`);
    assert.deepEqual(listAt(json, 'data.sessions'), []);
  });

  await t.test('by the end of the account', async () => {
    const gone = await waiting();
    await admin.delete(`/api/v1/officers/${gone.id}`);
    assert.equal(await isLive(gone.token), false);
    assert.deepEqual(statusAndCode(await login(gone.email)), [401, 'invalid_credentials']);
    const rows = 'select token_hash from system.one_time_tokens where account_id = $1';
    assert.deepEqual(await inDatabase(target, rows, [gone.id]), []);
  });

  await t.test('by the sign-in rule, which also keeps others from it', async () => {
    const banned = await waiting();
    await admin.patch('/api/v1/collections/officers', { sign_in_rule: `id != "${banned.id}"` });
    await eventually('the rule applies', async () => (await login(banned.email)).status === 403);
    assert.deepEqual(statusAndCode(await login(banned.email)), [403, 'sign_in_refused']);
    await eventually('the token has ended', async () => !(await isLive(banned.token)));
    await admin.patch('/api/v1/collections/officers', { sign_in_rule: null });
    await eventually('the rule is gone', async () => (await login(banned.email)).status === 200);
    assert.equal(await isLive(banned.token), false, 'it stays ended');
  });

  await t.test('by its time, and when the rule no longer holds', async () => {
    const demoted = await waiting();
    await admin.patch(`/api/v1/officers/${demoted.id}`, { rank: 'private' });
    assert.equal(await isLive(demoted.token), false);
    assert.notEqual(textAt((await login(demoted.email)).json, 'data.token'), '');
    const late = await waiting();
    await inDatabase(
      target,
      "update system.one_time_tokens set expires_at = created_at where account_id = $1 and purpose = 'enrollment'",
      [late.id],
    );
    assert.equal(await isLive(late.token), false);
  });

  await t.test('an open session works until it is refreshed', async () => {
    const { session, email, id } = await commission();
    assert.equal((await as(session).get(`/api/v1/officers/${id}`)).status, 200);
    const token = tokenIn(await as(session).send('POST', '/api/v1/auth/refresh'));
    const newer = tokenIn(await as(session).send('POST', '/api/v1/auth/refresh'));
    assert.equal((await as(token).send('POST', `${auth}/totp/setup`, { body: {} })).status, 401, 'a newer replaces it');
    await inDatabase(
      target,
      "update system.one_time_tokens set data = data || '{\"proved_at\": 5}' where account_id = $1 and purpose = 'enrollment'",
      [id],
    );
    const setup = (body: object) => as(newer).send('POST', `${auth}/totp/setup`, { body });
    assert.deepEqual(statusAndCode(await setup({})), [403, 'proof_required'], 'an old sign-in is no proof');
    assert.deepEqual(statusAndCode(await setup({ old_password: 'wrong' })), [403, 'proof_required']);
    const { json } = await setup({ old_password: password });
    const code = totpCode(textAt(json, 'secret'));
    assert.equal((await as(newer).send('POST', `${auth}/totp/confirm`, { body: { code } })).status, 200);
    assert.equal((await as(session).send('POST', '/api/v1/auth/refresh')).status, 200);
    assert.equal(at((await login(email)).json, 'data.mfa_required'), true);
  });
}
