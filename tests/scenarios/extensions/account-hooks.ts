import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Answer, type Client, createClient } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../../harness/json.ts';
import { startMailServer } from '../../harness/servers/mail-server.ts';
import { redirectUri, startOidcServer } from '../../harness/servers/oidc-server.ts';
import type { Target } from '../../harness/stacks/target.ts';

const password = 'correct horse battery staple';
const path = '/api/v1/auth/club_members';
const rival = { error: 'validation failed', code: 'validation_failed', details: { email: 'is of the other club' } };

const shown = ({ status, json }: Answer) => [status, json];
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();
const recordOf = ({ json, text }: Answer) => objectAt(json, 'data.record') ?? assert.fail(text);

/** Before hooks run before accounts are created and changed, as before other records (extensions §3.2). */
export async function accountHooks(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const { guest } = target;
  const name = (field: string) => ({ name: field, type: 'text' });
  const fields = [{ ...name('team'), required: true }, name('nick')];
  await admin.post('/api/v1/collections', { name: 'club_members', type: 'auth', fields, history_enabled: true });
  await admin.post('/api/v1/collections', { name: 'club_guests', type: 'auth', fields: [name('nick')] });
  await admin.post('/api/v1/collections', { name: 'club_list', type: 'base', fields: [name('entry')] });
  await using mail = await startMailServer();
  await using provider = await startOidcServer();
  await enableSignUp(admin, guest, { ...mail.settings, ...provider.settings() });

  const post = (action: string, body: object, client = guest, collection = 'club_members') =>
    client.send('POST', `/api/v1/auth/${collection}/${action}`, { body });
  const register = (email: string, more: object = {}) => post('register', { email, password, ...more });
  const list = async () =>
    listAt((await admin.get('/api/v1/club_list?perPage=100')).json, 'data').map(({ entry }) => entry);
  const listed = async (word: string) => (await list()).filter((entry) => String(entry).includes(word));
  const memberOf = async (id: unknown) => objectAt((await admin.get(`/api/v1/club_members/${id}`)).json, 'data');
  const canSignIn = async (email: string) => (await post('login', { email, password })).status === 200;
  const setRule = (rule: string | null) => admin.patch('/api/v1/collections/club_members', { sign_in_rule: rule });
  /** A sign-in rule that refuses a promotion leaves the user anonymous, and the token valid (auth §4.5). */
  const refusesPromotion = async (client: Client, promote: () => Promise<Answer>): Promise<void> => {
    await setRule('team != "the old ones"');
    await eventually('the rule applies where hooks run', async () => {
      const email = `${crypto.randomUUID()}@example.com`;
      await register(email, { team: 'the old ones' });
      return listAt((await admin.get(`/api/v1/club_members?filter=email="${email}"`)).json, 'data').length === 0;
    });
    const answer = await promote();
    assert.deepEqual([answer.status, at(answer.json, 'code')], [403, 'sign_in_refused'], answer.text);
    assert.equal((await client.send('GET', `${path}/sessions`)).status, 200);
    await setRule(null);
  };
  const visited = async (id: string) => {
    const query = new URLSearchParams({ provider: 'oidc', redirectUri, state: 's' });
    const { json } = await guest.get(`${path}/oauth2/authorize?${query}`);
    const arrival = await provider.visit(textAt(json, 'data.authorize_url'), { id });
    return { provider: 'oidc', redirectUri, ...arrival };
  };
  // This one takes as long as hooks may, while the other tests run.
  const hanging = register('slow@example.com', { nick: 'Slow' });

  await t.test("change a registration's values, with which their writes commit", async () => {
    const answer = await register('ann@example.com', { nick: 'Ann' });
    assert.equal(answer.status, 201, answer.text);
    const { id, team, nick } = recordOf(answer);
    assert.deepEqual([team, nick], ['team of Ann', 'Ann the new']);
    assert.deepEqual(await listed('Ann'), ['Ann as guest with email,nick,team']);
    assert.equal((await memberOf(id)).nick, 'Ann the new');
    assert.ok(await canSignIn('ann@example.com'), 'the password signs in');
    assert.ok((await mail.mailTo('ann@example.com')).token, 'the address receives its verification mail');
  });
  await t.test('refuse a registration under a field', async () => {
    assert.deepEqual(shown(await register('eve@rival.example', { nick: 'Eve' })), [422, rival]);
    assert.equal(await canSignIn('eve@rival.example'), false);
  });
  await t.test('roll back their writes when they refuse', async () => {
    const answer = await register('late@example.com', { nick: 'Late' });
    const refusal = { error: 'the club is full', code: 'conflict', details: { members: 'are many' } };
    assert.deepEqual(shown(answer), [409, refusal]);
    assert.deepEqual(await listed('Late'), []);
    assert.equal(await canSignIn('late@example.com'), false);
  });
  await t.test('are followed by a check of their values', async () => {
    const unnamed = await register('none@example.com');
    assert.deepEqual([unnamed.status, at(unnamed.json, 'details.team')], [422, 'is required']);
    assert.equal((await register('vain@example.com', { nick: 'Vain' })).status, 403);
    assert.deepEqual(await listed('Vain'), []);
  });
  await t.test('let one of two parallel registrations for an address succeed', async () => {
    const answers = await Promise.all([1, 2].map(() => register('twin@example.com', { nick: 'Twin' })));
    assert.deepEqual(statuses(answers), [201, 422]);
    assert.equal((await listed('Twin')).length, 1);
  });
  await t.test('do not run for a refused password', async () => {
    const answer = await post('register', { email: 'weak@example.com', password: 'short', nick: 'Weak' });
    assert.deepEqual([answer.status, Object.keys(objectAt(answer.json, 'details'))], [422, ['password']]);
    assert.deepEqual(await listed('Weak'), []);
  });
  await t.test('run for every collection, or only for the named one', async () => {
    assert.equal((await register('nobody@example.com', { nick: 'nobody' })).status, 403);
    const other = (nick: string) =>
      post('register', { email: `${nick}@rival.example`, password, nick }, guest, 'club_guests');
    assert.equal((await other('nobody')).status, 403);
    assert.equal(recordOf(await other('Eve')).nick, 'Eve');
  });

  await t.test('run for anonymous users and their promotion', async () => {
    assert.equal((await post('anonymous', { nick: 'Late' })).status, 409);
    const answer = await post('anonymous', { nick: 'Zoe' });
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(await listed('Zoe'), ['Zoe as guest with nick,team']);
    const client = createClient(target.url, textAt(answer.json, 'data.token'));
    const promote = (email: string) => post('promote', { email, password }, client);
    assert.deepEqual(shown(await promote('zoe@rival.example')), [422, rival]);
    assert.equal((await promote('ann@example.com')).status, 409);
    await refusesPromotion(client, () => promote('zoe@example.com'));
    const promoted = await promote('zoe@example.com');
    assert.equal(promoted.status, 200, promoted.text);
    assert.equal(recordOf(promoted).id, recordOf(answer).id);
    assert.equal(recordOf(promoted).team, 'the old ones');
    assert.deepEqual(await listed('Zoe the new'), ['Zoe the new as user gets email=zoe@example.com,verified=false']);
    assert.ok(await canSignIn('zoe@example.com'));
  });

  await t.test('run for a first exchange; parallel ones create one account', async () => {
    const record = { nick: 'Fay' };
    assert.equal((await post('oauth2/exchange', { ...(await visited('l')), record: { nick: 'Late' } })).status, 409);
    const arrivals = [await visited('fay'), await visited('fay')];
    const answers = await Promise.all(arrivals.map((arrival) => post('oauth2/exchange', { ...arrival, record })));
    assert.deepEqual(statuses(answers), [200, 200], answers.map(({ text }) => text).join());
    assert.equal(new Set(answers.map((answer) => recordOf(answer).id)).size, 1);
    assert.deepEqual(await listed('Fay'), ['Fay as guest with nick,team']);
  });

  await t.test('run when the address changes; a refusal leaves the token valid', async () => {
    const answer = await register('mia@example.com', { nick: 'Mia' });
    const client = createClient(target.url, textAt(answer.json, 'data.token'));
    const tokenFor = async (email: string) => {
      await client.post(`${path}/request-email-change`, { email, old_password: password }, 200);
      return { token: (await mail.mailTo(email)).token };
    };
    const refused = await tokenFor('mia@rival.example');
    for (const _ of [1, 2]) assert.deepEqual(shown(await post('confirm-email-change', refused)), [422, rival]);
    assert.equal((await memberOf(recordOf(answer).id)).email, 'mia@example.com');
    assert.deepEqual(await listed('Mia the new'), []);
    const allowed = await tokenFor('mia@example.org');
    const confirmed = await Promise.all([1, 2, 3].map(() => post('confirm-email-change', allowed)));
    assert.deepEqual(statuses(confirmed), [200, 401, 401]);
    const { email, team } = await memberOf(recordOf(answer).id);
    assert.deepEqual([email, team], ['mia@example.org', 'the old ones']);
    assert.deepEqual(await listed('Mia the new'), ['Mia the new as guest gets email=mia@example.org']);
    await mail.mailTo('mia@example.com', { count: 2 });
    const audited = listAt((await admin.get('/api/v1/admin/audit?action=users.email_change')).json, 'data');
    assert.equal(audited.filter(({ target_id }) => target_id === recordOf(answer).id).length, 1);
  });

  await t.test('run once when an address change is undone [identity §4.4]', async () => {
    const answer = await register('nia@example.com', { nick: 'Nia' });
    const { id } = recordOf(answer);
    const client = createClient(target.url, textAt(answer.json, 'data.token'));
    await admin.patch(`/api/v1/club_members/${id}`, { verified: true });
    await admin.patch(`/api/v1/club_members/${id}`, { email: 'nia@example.org' });
    const { token } = await mail.mailTo('nia@example.com', { subject: 'Your address was changed' });
    const undone = await Promise.all([1, 2, 3].map(() => post('undo-email-change', { token })));
    assert.deepEqual(statuses(undone), [200, 401, 401]);
    const { email, verified } = await memberOf(id);
    assert.deepEqual([email, verified], ['nia@example.com', true]);
    await eventually('the session has ended', async () => (await client.get(`${path}/sessions`)).status === 401);
    await mail.mailTo('nia@example.com', { subject: 'Reset your password' });
  });

  await t.test('run for a restore, which is audited when it changes the address', async () => {
    const { id } = recordOf(await register('ivo@example.com', { nick: 'Ivo' }));
    const record = `/api/v1/club_members/${id}`;
    const [first] = listAt((await admin.get(`${record}/history`)).json, 'data.data');
    await admin.patch(record, { email: 'ivo@example.org' });
    await admin.patch(record, { team: 'another' });
    await admin.post(`${record}/restore?version=${first?.version}`, undefined, 200);
    const { email, team } = await memberOf(id);
    assert.deepEqual([email, team], ['ivo@example.com', 'the old ones']);
    const audited = listAt((await admin.get('/api/v1/admin/audit?action=users.email_change')).json, 'data');
    assert.equal(audited.filter(({ target_id }) => target_id === id).length, 2);
  });

  const proofs: Readonly<Record<string, (email: string) => Promise<Answer>>> = {
    link: async (email) => post('verify-email', { token: (await mail.mailTo(email)).token }),
    code: async (email) => {
      await guest.post(`${path}/otp/request`, { email }, 200);
      return post('otp/auth', { email, code: (await mail.mailTo(email, { subject: 'Your sign-in code' })).code });
    },
    reset: async (email) => {
      await guest.post(`${path}/request-password-reset`, { email }, 200);
      return post('confirm-password-reset', {
        token: (await mail.mailTo(email, { subject: 'Reset your password' })).token,
        password,
      });
    },
  };
  for (const [way, prove] of Object.entries(proofs))
    await t.test(`run when ${way} verifies an address`, async () => {
      const answer = await register(`${way}@example.com`, { nick: way });
      const proved = await prove(`${way}@example.com`);
      assert.equal(proved.status, 200, proved.text);
      const { verified, team } = await memberOf(recordOf(answer).id);
      assert.deepEqual([verified, team], [true, 'the old ones']);
      assert.deepEqual(await listed(`${way} the new`), [`${way} the new as guest gets verified=true`]);
    });
  await t.test('do not run for a new password', async () => {
    const session = await guest.post(`${path}/login`, { email: 'ann@example.com', password }, 200);
    const client = createClient(target.url, textAt(session, 'token'));
    const change = { old_password: password, password: `${password} again` };
    assert.equal((await post('change-password', change, client)).status, 200);
    assert.deepEqual(await listed('Ann the new'), []);
  });
  await t.test('roll back everything when they hang', async () => {
    const answer = await hanging;
    assert.equal(answer.status, 504, answer.text);
    assert.deepEqual(await listed('Slow'), []);
    assert.equal(await canSignIn('slow@example.com'), false);
  });
  await t.test('cannot be called by clients', async () => {
    const body = { id: 'mine', fields: {}, passwordHash: null };
    assert.equal((await guest.send('POST', '/internal/users/club_members', { body })).status, 404);
  });
  await admin.patch('/api/v1/admin/settings', { 'smtp.enabled': '0' });
}

/** Enables every way to sign up and waits until the auth service follows. */
async function enableSignUp(admin: Client, guest: Client, settings: object): Promise<void> {
  const flows = { 'auth.otp.enabled': '1', 'auth.anonymous.enabled': '1' };
  await admin.patch('/api/v1/admin/settings', { ...flows, ...settings });
  await eventually('all ways to sign up are enabled', async () => {
    const { status } = await guest.send('POST', `${path}/otp/request`, { body: { email: 'nobody@example.com' } });
    const providers = listAt((await guest.get(`${path}/oauth2/providers`)).json, 'data');
    return status === 200 && providers.length > 0;
  });
}
