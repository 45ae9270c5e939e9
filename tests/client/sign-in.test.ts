import assert from 'node:assert/strict';
import { createClient, RecordbusError, type SignIn } from '@recordbus/client';
import { eventually } from '../harness/eventually.ts';
import { startLosingProxy } from '../harness/network/losing-proxy.ts';
import { startCannedServer } from '../harness/servers/canned-server.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { redirectUri } from '../harness/servers/oidc-server.ts';
import { totpCode, wrongTotpCode } from '../harness/sign-in/totp.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createUsers, password } from '../scenarios/users.ts';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error) => (error instanceof RecordbusError ? error.code : error),
  );

/** A completed sign-in's record. */
function recordOf<R>(signIn: { readonly state: string } | SignIn<R>): R {
  assert.equal(signIn.state, 'signed_in');
  return (signIn as Extract<SignIn<R>, { state: 'signed_in' }>).record;
}

onEachTopology('users sign in with the client', async (t, target) => {
  const admin = await target.admin();
  const users = await createUsers(target);
  await using mail = await startMailServer();
  await admin.patch('/api/v1/admin/settings', {
    ...mail.settings,
    'auth.otp.enabled': '1',
    'auth.anonymous.enabled': '1',
  });
  const client = createClient(target.url);
  const accounts = client.auth(users);
  const email = 'ada@example.com';

  await t.test('with address and password', async () => {
    const { id } = recordOf(await accounts.register({ email, password, nick: 'Ada' }));
    assert.equal((await client.from(users).get(id)).nick, 'Ada');
    await accounts.logout();
    assert.equal(await client.session.current(), undefined);
    assert.equal(await codeOf(accounts.login({ email, password: 'wrong' })), 'invalid_credentials');
    assert.equal(recordOf(await accounts.login({ email, password })).id, id);
  });

  await t.test('with a code and a link from a mail, which prove the address', async () => {
    await accounts.requestCode(email);
    const { code } = await mail.mailTo(email, { subject: 'Your sign-in code' });
    const signIn = await createClient(target.url)
      .auth(users)
      .loginWithCode({ email, code: code ?? '' });
    assert.equal(recordOf(signIn).verified, true);
    await accounts.requestCode(email);
    const { token } = await mail.mailTo(email, { subject: 'Your sign-in code', count: 2 });
    recordOf(await accounts.loginWithCode({ token: token ?? '' }));
  });

  await t.test('with a new password after a reset', async () => {
    await accounts.requestPasswordReset(email);
    const { token } = await mail.mailTo(email, { subject: 'Reset your password' });
    await accounts.confirmPasswordReset({ token: token ?? '', password: `${password}!` });
    recordOf(await accounts.login({ email, password: `${password}!` }));
    recordOf(await accounts.changePassword({ oldPassword: `${password}!`, password }));
    assert.equal((await accounts.sessions.list()).filter(({ current }) => current).length, 1);
  });

  await t.test('with an authenticator app as the second factor', async () => {
    recordOf(await accounts.login({ email, password }));
    const { secret } = await accounts.totp.setup();
    const { codes } = await accounts.totp.confirm(totpCode(secret));
    assert.equal(codes.length, 10);
    const other = createClient(target.url);
    const first = await other.auth(users).login({ email, password });
    assert.ok(first.state === 'mfa_required');
    assert.equal(await other.session.current(), undefined);
    assert.equal(await codeOf(first.confirm({ code: wrongTotpCode(secret) })), 'invalid_code');
    assert.equal((await first.confirm({ code: totpCode(secret, 1) })).record.email, email);
    assert.equal((await other.session.current())?.token.split('.').length, 3);
    const again = await accounts.login({ email, password });
    assert.ok(again.state === 'mfa_required');
    const { record } = await accounts.confirmMfa(again.mfaToken, { recoveryCode: codes[0] ?? '' });
    assert.equal(record.email, email);
    assert.deepEqual(await accounts.totp.recoveryStatus(), { total: 10, remaining: 9 });
  });

  await t.test('without an address, and then with one', async () => {
    const { id } = recordOf(await accounts.anonymous({ nick: 'Someone' }));
    const promoted = recordOf(await accounts.promote({ email: 'later@example.com', password }));
    assert.deepEqual([promoted.id, promoted.anonymous], [id, false]);
    recordOf(await createClient(target.url).auth(users).login({ email: 'later@example.com', password }));
    await accounts.sessions.endOthers();
    assert.equal((await accounts.sessions.list()).length, 1);
  });

  await t.test('after setting up a second factor that a rule demands', async () => {
    const chief = { email: 'chief@example.com', password };
    const own = createClient(target.url);
    recordOf(await own.auth(users).register({ ...chief, nick: 'Chief' }));
    await own.auth(users).logout();
    await admin.patch('/api/v1/admin/settings', { [`auth.mfa.required.${users}`]: 'nick = "Chief"' });
    const begun = await eventually('the rule is asked', async () => {
      const signIn = await own.auth(users).login(chief);
      return signIn.state === 'mfa_enrollment_required' && signIn;
    });
    await own.auth(users).logout();
    assert.equal(await own.session.current(), undefined);
    const { secret } = await begun.setUpApp();
    assert.equal(await codeOf(begun.confirmApp(wrongTotpCode(secret))), 'validation_failed');
    const { record, codes } = await begun.confirmApp(totpCode(secret));
    assert.deepEqual([record.email, codes.length], [chief.email, 10]);
    assert.deepEqual(await own.auth(users).totp.recoveryStatus(), { total: 10, remaining: 10 });
    const next = await own.auth(users).login(chief);
    assert.ok(next.state === 'mfa_required');
    assert.deepEqual(next.factors, ['totp', 'recovery_code']);
  });

  await t.test('although the answer to the registration was lost', async () => {
    await using proxy = await startLosingProxy(target.url, (request, number) =>
      request.includes('register') && number === 1 ? 'lose' : 'pass',
    );
    const lost = createClient(proxy.url);
    const { id } = recordOf(await lost.auth(users).register({ email: 'lost@example.com', password }));
    assert.equal((await lost.from(users).get(String(id))).email, 'lost@example.com');
    const { data } = (await admin.get(`/api/v1/${users}?filter=email="lost@example.com"`)).json as { data: unknown[] };
    assert.equal(data.length, 1);
  });

  await t.test('at a provider, and merge it with their account', async () => {
    await using server = await startCannedServer();
    await admin.patch('/api/v1/admin/settings', {
      'hooks.http.allow': '127.0.0.1',
      'oauth2.gitlab.enabled': '1',
      'oauth2.gitlab.client_id': 'an-id',
      'oauth2.gitlab.client_secret': 'a-secret',
      'oauth2.gitlab.endpoint': `${server.url}/git/`,
    });
    const person = (id: number, address: string) => ({
      '/git/oauth/token': { body: JSON.stringify({ access_token: 'a-token', token_type: 'Bearer' }) },
      '/git/api/v4/user': { body: JSON.stringify({ id, username: 'gus', email: address, confirmed_at: '2012-05-23' }) },
    });
    const guest = createClient(target.url);
    const { oauth } = guest.auth(users);
    assert.deepEqual(await oauth.providers(), [{ name: 'gitlab', displayName: 'GitLab' }]);
    const signInAs = async (id: number, address: string) => {
      server.answer(person(id, address));
      const { url, state } = await oauth.begin({ provider: 'gitlab', redirectUri });
      assert.ok(url.startsWith(server.url) && url.includes(state) && url.includes('code_challenge'));
      return oauth.complete({ provider: 'gitlab', code: 'a-code', redirectUri, state });
    };
    const fresh = await signInAs(7, 'gus@example.com');
    assert.ok(fresh.state === 'signed_in');
    assert.equal(fresh.profile?.username, 'gus');
    const merge = await signInAs(8, 'later@example.com');
    assert.ok(merge.state === 'merge_required');
    assert.deepEqual([merge.email, merge.provider], ['later@example.com', 'gitlab']);
    const merged = await merge.confirm({ password });
    assert.ok(merged.state === 'signed_in');
    assert.equal(merged.linkedProvider, 'gitlab');
    await oauth.unlink('gitlab');
    assert.equal((await signInAs(8, 'later@example.com')).state, 'merge_required');
  });
});
