import assert from 'node:assert/strict';
import { type Answer, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { type Person, redirectUri, startOidcServer } from '../harness/servers/oidc-server.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createVisitor, newPerson, password } from './oauth/visitor.ts';

const auth = '/api/v1/auth/sentries';
const settingsPath = '/api/v1/admin/settings';
const required = 'auth.mfa.required.sentries';
const members = ['enrollment_token', 'mfa_enrollment_required'];

onEachTopology('every door asks for a required second factor [auth §6.10]', async (t, target) => {
  const admin = followedEverywhere(await target.admin());
  const { guest } = target;
  await admin.post('/api/v1/collections', { name: 'sentries', type: 'auth', fields: [{ name: 'rank', type: 'text' }] });
  await using provider = await startOidcServer();
  await using mail = await startMailServer();
  await admin.patch(settingsPath, { ...provider.settings(), ...mail.settings, 'auth.otp.enabled': '1' });
  const visitor = createVisitor(target, provider, auth);
  const require = (rule = 'id != null') => admin.patch(settingsPath, { [required]: rule });
  const sessionsOf = async (id: string) =>
    (await inDatabase(target, 'select id from system.sessions where account_id = $1', [id])).length;
  const idOf = async (email: string): Promise<string> =>
    textAt((await inDatabase(target, 'select id from records.sentries where email = $1', [email]))[0], 'id');
  const idAtProvider = async (person: Person): Promise<string> => {
    const link = 'select account_id from system.oauth_links where provider_user_id = $1';
    return textAt((await inDatabase(target, link, [person.id]))[0], 'account_id');
  };

  /** Checks that an answer has the token and nothing else, that no session is open, and that the token opens none. */
  async function waits(answer: Answer, id: string, status = 200): Promise<string> {
    assert.equal(answer.status, status, answer.text);
    assert.deepEqual(Object.keys(objectAt(answer.json, 'data')).sort(), members, answer.text);
    assert.equal(answer.headers['set-cookie'], undefined);
    const token = textAt(answer.json, 'data.enrollment_token');
    assert.equal(await sessionsOf(id), 0, 'no session is open');
    const bearer = createClient(target.url, token);
    assert.equal((await bearer.send('POST', '/api/v1/auth/refresh')).status, 401);
    assert.equal((await bearer.get(`${auth}/sessions`)).status, 401);
    assert.notEqual((await bearer.get(`/api/v1/sentries/${id}`)).status, 200);
    return token;
  }

  /** Sets an app up with the token, and returns the whole sign-in. */
  async function finish(token: string): Promise<Answer> {
    const bearer = createClient(target.url, token);
    const { secret } = (await bearer.post(`${auth}/totp/setup`, {}, 200)) as { secret: string };
    const answer = await bearer.send('POST', `${auth}/totp/confirm`, { body: { code: totpCode(secret) } });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  }

  /** An account that has no session. */
  async function enlist(name: string): Promise<{ id: string; email: string }> {
    const email = `${name}@example.com`;
    const { id } = await visitor.register(email);
    await inDatabase(target, 'delete from system.sessions where account_id = $1', [id]);
    return { id, email };
  }

  await t.test('a provider, for a new account and for one that is linked', async () => {
    await require();
    const person = newPerson('sentry.new');
    const first = await visitor.signIn(person);
    const id = await idAtProvider(person);
    const waiting = await waits(first, id);
    const again = await waits(await visitor.signIn(person), id);
    const done = await finish(again);
    assert.equal(at(done.json, 'data.record.id'), id);
    assert.equal(at(done.json, 'data.profile.id'), person.id, 'as the exchange would have answered');
    assert.equal((await createClient(target.url, waiting).send('POST', `${auth}/totp/setup`)).status, 401);
    const next = await visitor.signIn(person);
    assert.deepEqual(
      Object.keys(objectAt(next.json, 'data')).sort(),
      ['mfa_required', 'mfa_token'],
      'then it is asked',
    );
  });

  await t.test('a merge by password: the link is made with the second factor', async () => {
    await require('rank = "high"');
    const person = newPerson('sentry.merged');
    const { id } = await enlist('sentry.merged');
    await admin.patch(`/api/v1/sentries/${id}`, { rank: 'high' });
    const merge_token = await visitor.mergeTokenFor(person);
    const waiting = await waits(await visitor.merge({ merge_token, password }), id);
    assert.equal(at((await visitor.signIn(person)).json, 'merge_required'), true, 'there is no link yet');
    const done = await finish(waiting);
    assert.equal(at(done.json, 'data.linked_provider'), 'oidc');
    assert.equal(at(done.json, 'data.profile.id'), person.id);
    assert.equal(at((await visitor.signIn(person)).json, 'data.mfa_required'), true);
  });

  await t.test('a merge by a session', async () => {
    await require('');
    const person = newPerson('sentry.open');
    const { id, token } = await visitor.register(person.email);
    await require();
    const merge_token = await visitor.mergeTokenFor(person);
    const answer = await visitor.merge({ merge_token }, visitor.as(token));
    assert.deepEqual(Object.keys(objectAt(answer.json, 'data')).sort(), members, answer.text);
    assert.equal(await sessionsOf(id), 1, 'the one that confirmed it');
    const done = await finish(textAt(answer.json, 'data.enrollment_token'));
    assert.equal(at(done.json, 'data.linked_provider'), 'oidc');
  });

  await t.test('a mailed code, and the link beside it', async () => {
    await require('');
    const { id, email } = await enlist('sentry.mailed');
    await require();
    const mailed = async (count: number) => {
      await guest.post(`${auth}/otp/request`, { email }, 200);
      return mail.mailTo(email, { subject: 'Your sign-in code', count });
    };
    const signIn = (body: object) => guest.send('POST', `${auth}/otp/auth`, { body });
    await waits(await signIn({ email, code: (await mailed(1)).code }), id);
    const { token } = await mailed(2);
    const waiting = await waits(await signIn({ token }), id);
    assert.equal((await signIn({ token })).status, 401, 'the link is used');
    const done = await finish(waiting);
    assert.equal(at(done.json, 'data.record.verified'), true, 'it proved the address');
  });

  await t.test('links in mails that open no session still open none', async () => {
    await require('');
    const { id, email } = await enlist('sentry.links');
    await require();
    const { token } = await mail.mailTo(email, { subject: 'Verify your email' });
    const verified = await guest.send('POST', `${auth}/verify-email`, { body: { token } });
    assert.deepEqual(verified.json, { data: { verified: true } });
    await guest.post(`${auth}/request-password-reset`, { email }, 200);
    const reset = await mail.mailTo(email, { subject: 'Reset your password' });
    const answer = await guest.send('POST', `${auth}/confirm-password-reset`, {
      body: { token: reset.token, password },
    });
    assert.deepEqual(answer.json, { data: { reset: true } });
    assert.equal(await sessionsOf(id), 0);
  });

  await t.test('a registration, a password, a promotion', async () => {
    await admin.patch(settingsPath, { 'auth.anonymous.enabled': '1', [required]: 'id != null' });
    const email = 'sentry.registered@example.com';
    const registered = await guest.send('POST', `${auth}/register`, { body: { email, password } });
    await waits(registered, await idOf(email), 201);
    await waits(await guest.send('POST', `${auth}/login`, { body: { email, password } }), await idOf(email));
    const visit = await guest.post(`${auth}/anonymous`, {});
    const body = { email: 'sentry.promoted@example.com', password };
    const promoted = await visitor.as(textAt(visit, 'token')).send('POST', `${auth}/promote`, { body });
    await waits(promoted, textAt(visit, 'record.id'));
    await eventually(
      'the visitor has no session any more',
      async () => (await visitor.as(textAt(visit, 'token')).get(`${auth}/sessions`)).status === 401,
    );
  });

  await t.test("every door of PocketBase's clients answers 403 with the token", async () => {
    await admin.patch(settingsPath, { 'pocketbase.enabled': '1', [required]: '' });
    const pb = '/pb/api/collections/sentries';
    const send = (path: string, body: object, client = guest) => client.send('POST', `${pb}/${path}`, { body });
    await eventually('the routes answer', async () => (await guest.get(`${pb}/auth-methods`)).status === 200);
    const { id, email } = await enlist('sentry.app');
    await admin.patch(`/api/v1/sentries/${id}`, { verified: true });
    const opened = await send('auth-with-password', { identity: email, password });
    const session = visitor.as(textAt(opened.json, 'token'));
    await require();
    const held = async (answer: Answer): Promise<void> => {
      assert.equal(answer.status, 403, answer.text);
      assert.deepEqual([at(answer.json, 'token'), at(answer.json, 'record')], [undefined, undefined]);
      assert.equal(at(answer.json, 'mfa_enrollment_required'), true);
      const bearer = createClient(target.url, textAt(answer.json, 'enrollment_token'));
      assert.equal((await bearer.get(`/pb/api/collections/sentries/records/${id}`)).status, 404);
      assert.equal((await send('auth-refresh', {}, bearer)).status, 401);
    };
    await held(await send('auth-with-password', { identity: email, password }));
    await held(await send('auth-refresh', {}, session));
    const otpId = textAt((await send('request-otp', { email })).json, 'otpId');
    const { code } = await mail.mailTo(email, { subject: 'Your sign-in code' });
    await held(await send('auth-with-otp', { otpId, password: code }));
    const stranger = newPerson('sentry.stranger');
    const arrived = await visitor.visit(stranger);
    await held(
      await send('auth-with-oauth2', {
        provider: 'oidc',
        code: arrived.code,
        state: arrived.state,
        redirectURL: redirectUri,
      }),
    );
    assert.equal(await sessionsOf(id), 1, 'the one from before the rule');
  });
});
