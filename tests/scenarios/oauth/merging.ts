import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, textAt } from '../../harness/json.ts';
import { differences, is } from '../../harness/matching.ts';
import { totpCode, wrongTotpCode } from '../../harness/sign-in/totp.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { newPerson, password, path, provider, statusOf, type Visitor } from './visitor.ts';

const profileOf = ({ id, email }: ReturnType<typeof newPerson>) => ({ provider, id, email, email_verified: true });

/** Accounts that exist already: their owner confirms that they are the person at the provider. */
export async function merging(t: TestContext, target: Target, visitor: Visitor): Promise<void> {
  const { signIn, as, register, merge, mergeTokenFor } = visitor;
  const admin = await target.admin();
  const { guest } = target;
  await t.test('a taken address needs a confirmation with the password', async () => {
    const person = newPerson('ned');
    const { id } = await register('NED@example.com');
    const first = await signIn(person);
    assert.equal(first.status, 200);
    const required = { merge_required: true, merge_token: is.text, email: 'NED@example.com', provider };
    assert.deepEqual(differences(first.json, { ...required, data: required }), []);
    const merge_token = textAt(first.json, 'merge_token');
    assert.equal(textAt(first.json, 'data.merge_token'), merge_token);
    assert.equal(statusOf(await merge({ merge_token, password: 'wrong' })), 401);
    const done = await merge({ merge_token, password });
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(
      differences(done.json, {
        data: {
          token: is.text,
          record: is.containing({ id, verified: false }),
          linked_provider: provider,
          profile: is.containing(profileOf(person)),
        },
      }),
      [],
    );
    assert.equal(statusOf(await merge({ merge_token, password })), 401, 'once');
    assert.equal(textAt((await signIn(person)).json, 'data.record.id'), id);
    await guest.post('/api/v1/auth/people/login', { email: 'ned@example.com', password }, 200);
  });

  await t.test('merges in two browser tabs both work', async () => {
    const person = newPerson('noa');
    const { id } = await register('noa@example.com');
    const [first, second] = [await mergeTokenFor(person), await mergeTokenFor(person)];
    for (const merge_token of [first, second]) {
      const done = await merge({ merge_token, password });
      assert.equal(done.status, 200, done.text);
      assert.equal(textAt(done.json, 'data.record.id'), id);
    }
    assert.deepEqual([statusOf(await merge({ merge_token: first, password }))], [401], 'each token works once');
  });

  await t.test("or with the owner's session, and no other session", async () => {
    const person = newPerson('ola');
    const { id, token } = await register('ola@example.com');
    const other = await register('other@example.com');
    const merge_token = await mergeTokenFor(person);
    assert.equal(statusOf(await merge({ merge_token }, as(other.token))), 403);
    assert.equal(statusOf(await merge({ merge_token }, await target.user())), 403, 'a user of another collection');
    assert.equal(statusOf(await merge({ merge_token }, admin)), 400, 'an admin is not a user');
    const answers = await Promise.all(Array.from({ length: 4 }, () => merge({ merge_token }, as(token))));
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401]);
    assert.equal(textAt((await signIn(person)).json, 'data.record.id'), id);
  });

  await t.test('when several confirm at once, one succeeds', async () => {
    await register('pia@example.com');
    const merge_token = await mergeTokenFor(newPerson('pia'));
    const answers = await Promise.all(Array.from({ length: 5 }, () => merge({ merge_token, password })));
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401, 401]);
  });

  await t.test('the fifth wrong password ends the token, even with parallel attempts', async () => {
    await register('quin@example.com');
    const merge_token = await mergeTokenFor(newPerson('quin'));
    const answers = await Promise.all(Array.from({ length: 5 }, () => merge({ merge_token, password: 'wrong' })));
    assert.deepEqual(answers.map(statusOf), [401, 401, 401, 401, 401]);
    assert.equal(statusOf(await merge({ merge_token, password })), 401);
  });

  await t.test("another user's link is not moved", async () => {
    const person = newPerson('rex');
    const { id } = await register('rex@example.com');
    const merge_token = await mergeTokenFor(person);
    await admin.patch(`/api/v1/people/${id}`, { email: 'rex.else@example.com' });
    const taken = textAt((await signIn(person)).json, 'data.record.id');
    assert.notEqual(taken, id);
    await admin.patch(`/api/v1/people/${id}`, { email: 'rex@example.com' });
    assert.equal(statusOf(await merge({ merge_token, password })), 409);
    assert.equal(textAt((await signIn(person)).json, 'data.record.id'), taken);
  });

  await t.test('other tokens cannot confirm, and a merge token works nowhere else', async () => {
    const { token } = await register('tom@example.com');
    const merge_token = await mergeTokenFor(newPerson('tom'));
    assert.equal(statusOf(await merge({ merge_token: token, password })), 401);
    assert.equal(statusOf(await as(merge_token).send('POST', '/api/v1/auth/refresh')), 401);
    const elsewhere = (suffix: string, body: object) => guest.send('POST', `/api/v1/auth/people${suffix}`, { body });
    assert.equal(statusOf(await elsewhere('/verify-email', { token: merge_token })), 401);
    assert.equal(statusOf(await elsewhere('/confirm-password-reset', { token: merge_token, password })), 401);
    assert.equal(statusOf(await elsewhere('/login/mfa', { mfa_token: merge_token, code: '123456' })), 401);
    const elsewhereUrl = `/api/v1/auth/members/oauth2/merge-confirm`;
    assert.equal(statusOf(await guest.send('POST', elsewhereUrl, { body: { merge_token, password } })), 401);
    assert.equal(statusOf(await merge({ merge_token, password })), 200, 'refused uses leave the token usable');
  });

  await t.test('a new password ends a pending merge', async () => {
    const { token } = await register('uli@example.com');
    const merge_token = await mergeTokenFor(newPerson('uli'));
    const body = { old_password: password, password: `${password} again` };
    assert.equal(statusOf(await as(token).send('POST', '/api/v1/auth/people/change-password', { body })), 200);
    assert.equal(statusOf(await merge({ merge_token, password: body.password })), 401);
  });

  await t.test('a user with an authenticator app needs its code, and the link is made only then', async () => {
    const person = newPerson('vic');
    const { id, token } = await register('vic@example.com');
    const own = as(token);
    const profile = is.containing(profileOf(person));
    const secret = textAt((await own.send('POST', '/api/v1/auth/people/totp/setup')).json, 'secret');
    // Leaves two later codes. This one ends with its step, perhaps before it arrives.
    await eventually('the former code is accepted', async () => {
      const body = { code: totpCode(secret, -1) };
      return statusOf(await own.send('POST', '/api/v1/auth/people/totp/confirm', { body })) === 200;
    });
    const merge_token = await mergeTokenFor(person);
    const first = await merge({ merge_token, password });
    assert.deepEqual(differences(first.json, { data: { mfa_required: true, mfa_token: is.text } }), []);
    assert.equal(at((await signIn(person)).json, 'merge_required'), true, 'there is no link yet');
    const finish = (answer: Answer, code: string) =>
      guest.send('POST', '/api/v1/auth/people/login/mfa', {
        body: { mfa_token: at(answer.json, 'data.mfa_token'), code },
      });
    assert.equal(statusOf(await finish(first, wrongTotpCode(secret))), 401);
    const done = await finish(first, totpCode(secret));
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(
      differences(done.json, {
        data: { token: is.text, record: is.containing({ id }), linked_provider: provider, profile },
      }),
      [],
    );
    const next = await signIn(person);
    assert.deepEqual(differences(next.json, { data: { mfa_required: true, mfa_token: is.text } }), []);
    const last = await finish(next, totpCode(secret, 1));
    assert.deepEqual(differences(last.json, { data: { token: is.text, record: is.containing({ id }), profile } }), []);
    const byPassword = await guest.send('POST', '/api/v1/auth/people/login', {
      body: { email: person.email, password },
    });
    const codes = await inDatabase(
      target,
      `select data ? 'profile' as "hasProfile" from system.one_time_tokens where account_id = $1 and purpose = 'mfa'`,
      [id],
    );
    assert.equal(byPassword.status, 200);
    assert.deepEqual(codes, [{ hasProfile: false }], 'a used token leaves no profile behind');
  });

  await t.test('an admin who impersonates a user cannot confirm for them', async () => {
    const { id, token } = await register('abe@example.com');
    const merge_token = await mergeTokenFor(newPerson('abe'));
    const impersonated = await admin.post(`/api/v1/admin/impersonate/people/${id}`, {}, 200);
    assert.equal(statusOf(await merge({ merge_token }, as(textAt(impersonated, 'token')))), 403);
    assert.equal(statusOf(await merge({ merge_token }, as(token))), 200);
    await as(token).delete(`${path}/oidc/unlink`);
    const { json } = await admin.get('/api/v1/admin/audit?perPage=200');
    const rows = listAt(json, 'data').filter(({ target_id }) => target_id === id);
    const details = { collection: 'people', provider };
    assert.deepEqual(
      rows.filter(({ actor_id }) => actor_id === id).map(({ action, details }) => ({ action, details })),
      [
        { action: 'users.oauth_unlink', details },
        { action: 'users.oauth_link', details },
      ],
    );
  });

  await t.test('the lockout covers confirmations with the password', async () => {
    await register('zoe@example.com');
    const merge_token = await mergeTokenFor(newPerson('zoe'));
    await admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '2' });
    const login = () =>
      guest.send('POST', '/api/v1/auth/people/login', { body: { email: 'zoe@example.com', password: 'x' } });
    await eventually('the account is locked', async () => statusOf(await login()) === 429);
    const answer = await merge({ merge_token, password });
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers['retry-after']) > 0);
    await admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '' });
  });
}
