import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { openBusReader } from '../harness/bus-reader.ts';
import { createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology, type Target } from '../harness/target.ts';

const password = 'a long and winding password';

async function givenUsers(target: Target, more: object = {}): Promise<string> {
  const name = `users_${randomBytes(4).toString('hex')}`;
  const fields = [{ name: 'nick', type: 'text' }];
  await (await target.admin()).post('/api/v1/collections', { name, type: 'auth', fields, ...more });
  return name;
}

const record = (email: string, more: object = {}) => ({
  id: is.uuidV7,
  email,
  verified: false,
  anonymous: false,
  nick: null,
  created: is.now,
  updated: is.now,
  ...more,
});

onEachTopology('auth collections have fields of their own', async (t, target) => {
  const collection = (body: object): Pick<Scenario, 'as' | 'request' | 'body' | 'spec'> => ({
    as: 'admin',
    request: 'POST /api/v1/collections',
    body: { type: 'auth', ...body },
    spec: 'collections §2.2',
  });
  const email = { id: is.text, name: 'email', type: 'email', required: true, system: true };
  const verified = { id: is.text, name: 'verified', type: 'bool', required: false, system: true, options: {} };
  const withFields = (...fields: unknown[]) => ({
    status: 201,
    json: { data: is.containing({ type: 'auth', fields: is.jsonOf(fields) }) },
  });
  const name = `a_${randomBytes(4).toString('hex')}`;
  await runScenarios(t, target, [
    {
      name: 'email and verified are injected',
      ...collection({ name: `${name}1`, fields: [] }),
      expect: withFields({ ...email, options: is.containing({ unique: true }) }, verified),
    },
    {
      name: 'their options may be edited, but an address stays required and unique',
      ...collection({
        name: `${name}2`,
        fields: [{ name: 'email', type: 'email', required: false, options: { max: 30, unique: false } }],
      }),
      expect: withFields(verified, { ...email, options: is.containing({ max: 30, unique: true }) }),
    },
    {
      name: 'their types may not',
      ...collection({
        name: `${name}3`,
        fields: [
          { name: 'email', type: 'text' },
          { name: 'verified', type: 'text' },
        ],
      }),
      expect: refused.invalid('fields.email.type', 'fields.verified.type'),
    },
    {
      name: 'another spelling is no other field',
      ...collection({ name: `${name}4`, fields: [{ name: 'Email', type: 'text' }] }),
      expect: refused.naming('Email'),
    },
    ...[
      'anonymous',
      'password',
      'old_password',
      'password_hash',
      'totp_secret',
      'totp_enabled',
      'is_anonymous',
      'password_reset_at',
      'has_password',
    ].map(
      (reserved): Scenario => ({
        name: `${reserved} is reserved`,
        ...collection({ name: `${name}5`, fields: [{ name: reserved, type: 'text' }] }),
        expect: refused.naming(reserved),
      }),
    ),
  ]);
  await t.test('a change that leaves them out keeps them; none renames them [collections §2.2]', async () => {
    const admin = await target.admin();
    const made = await admin.post('/api/v1/collections', { name, type: 'auth' });
    const fields: { id: string; name: string }[] = JSON.parse(textAt(made, 'fields'));
    const path = `/api/v1/collections/${textAt(made, 'id')}`;
    const changed = await admin.patch(path, { fields: [{ name: 'nick', type: 'text' }] });
    assert.deepEqual(
      JSON.parse(textAt(changed, 'fields')).map((field: { id: string; name: string }) => field.name),
      ['email', 'verified', 'nick'],
    );
    const renamed = fields.map((field) => (field.name === 'email' ? { ...field, name: 'mail' } : field));
    assert.equal((await admin.send('PATCH', path, { body: { fields: renamed } })).status, 422);
  });
});

onEachTopology('users are records', async (t, target) => {
  const users = await givenUsers(target, { create_rule: null });
  const admin = await target.admin();
  const signUp = (email: string) => target.guest.post(`/api/v1/auth/${users}/register`, { email, password });
  const ann = await signUp('ann@example.com');
  const bob = await signUp('bob@example.com');
  const path = (session: unknown) => `/api/v1/${users}/${textAt(session, 'record.id')}`;
  const bearer = (session: unknown) => ({ Authorization: `Bearer ${textAt(session, 'token')}` });
  const create = (body: object, more: Partial<Scenario> = {}): Pick<Scenario, 'request' | 'body' | 'spec'> => ({
    request: `POST /api/v1/${users}`,
    body,
    spec: 'records §12.1',
    ...more,
  });
  const asAnn = (body: object, to: unknown = ann): Pick<Scenario, 'request' | 'body' | 'spec' | 'headers'> => ({
    request: `PATCH ${path(to)}`,
    body,
    headers: bearer(ann),
    spec: 'records §12',
  });
  const updated = [`${users}.update`];
  await runScenarios(t, target, [
    {
      name: 'an admin creates one, with password and proof',
      as: 'admin',
      ...create({ email: 'cid@example.com', password, verified: true }),
      expect: { status: 201, json: { data: record('cid@example.com', { verified: true }) } },
      events: [`${users}.create`],
    },
    {
      name: 'an admin creates one whom no password signs in',
      as: 'admin',
      ...create({ email: 'dan@example.com' }),
      expect: { status: 201, json: { data: record('dan@example.com') } },
      events: [`${users}.create`],
    },
    {
      name: 'a taken address in another case is refused',
      as: 'admin',
      ...create({ email: 'CID@example.com', password }),
      expect: refused.invalid('email'),
    },
    {
      name: 'fields and password are refused together',
      as: 'admin',
      ...create({ email: 'x', password: 'short', colour: 1 }),
      expect: refused.invalid('email', 'password', 'colour'),
    },
    { name: 'others need a password', ...create({ email: 'e@example.com' }), expect: refused.invalid('password') },
    {
      name: 'others verify nobody',
      ...create({ email: 'e@example.com', password, verified: true }),
      expect: refused.forbidden,
    },
    ...['password_hash', 'token_version', 'totp_enabled', 'is_anonymous'].flatMap((column): Scenario[] => [
      {
        name: `${column} is set by nobody at create`,
        as: 'admin',
        ...create({ email: 'e@example.com', password, [column]: 'x' }),
        expect: refused.invalid(column),
      },
      { name: `${column} is set by nobody at update`, ...asAnn({ [column]: 'x' }), expect: refused.invalid(column) },
      {
        name: `${column} is filtered by nobody`,
        as: 'admin',
        request: `GET /api/v1/${users}?filter=${column}!=null`,
        expect: refused.malformedWith({ filter: is.text }),
        spec: 'filters §4.2',
      },
      {
        name: `${column} is sorted by nobody`,
        as: 'admin',
        request: `GET /api/v1/${users}?sort=${column}`,
        expect: refused.malformedWith({ sort: is.text }),
        spec: 'filters §4.2',
      },
    ]),
    {
      name: 'a user changes a field',
      ...asAnn({ nick: 'annie' }),
      expect: { status: 200, json: { data: record('ann@example.com', { nick: 'annie' }) } },
      events: updated,
    },
    { name: 'not that of another', ...asAnn({ nick: 'x' }, bob), expect: refused.forbidden },
    { name: 'nor verifies themselves', ...asAnn({ verified: true }), expect: refused.forbidden },
    {
      name: 'an unchanged verified is accepted',
      ...asAnn({ verified: false, nick: 'ann' }),
      expect: { status: 200 },
      events: updated,
    },
    { name: 'a password needs the old one', ...asAnn({ password }), expect: refused.invalid('old_password') },
    {
      name: 'which must be right',
      ...asAnn({ password, old_password: 'wrong password' }),
      expect: refused.invalid('old_password'),
    },
    {
      name: 'the password of another is not guessed at by it',
      ...asAnn({ password, old_password: password }, bob),
      expect: refused.forbidden,
    },
    {
      name: 'the new one obeys the policy',
      ...asAnn({ password: 'short', old_password: password }),
      expect: refused.invalid('password'),
    },
  ]);

  await t.test('a new address of a user has to be proved, an admin knows what they do [records §12.4]', async () => {
    await admin.patch(path(bob), { verified: true });
    const bobs = createClient(target.url, textAt(bob, 'token'));
    assert.equal((await bobs.patch(path(bob), { email: 'BOB@example.com', verified: true })).verified, true);
    const moved = { email: 'bob2@example.com', verified: true, old_password: password };
    assert.equal((await bobs.patch(path(bob), moved)).verified, false);
    await admin.patch(path(bob), { verified: true });
    assert.equal((await admin.patch(path(bob), { email: 'bob3@example.com' })).verified, true);
  });

  await t.test('a new password, set by the user or an admin, ends earlier tokens [records §12.3]', async () => {
    const changed = 'another long password';
    const anns = createClient(target.url, textAt(ann, 'token'));
    await anns.patch(path(ann), { password: changed, old_password: password });
    const ended = (client: typeof anns) =>
      eventually(
        'the end of the token',
        async () => (await client.get(`/api/v1/auth/${users}/sessions`)).status === 401,
      );
    await ended(anns);
    const login = (tried: string) =>
      target.guest.send('POST', `/api/v1/auth/${users}/login`, { body: { email: 'ann@example.com', password: tried } });
    assert.equal((await login(password)).status, 401);
    const again = await login(changed);
    assert.equal(again.status, 200);
    await admin.patch(path(ann), { password });
    await ended(createClient(target.url, textAt(objectAt(again.json, 'data'), 'token')));
    assert.equal((await login(password)).status, 200);
  });
});

onEachTopology('registering writes fields of every kind as a create does', async (t, target) => {
  const users = await givenUsers(target, {
    history_enabled: true,
    fields: [
      { name: 'nick', type: 'text' },
      { name: 'pin', type: 'password', options: { min: 4, max: 8 } },
      { name: 'joined', type: 'autodate', onCreate: true },
      { name: 'seen', type: 'autodate', onUpdate: true },
      { name: 'face', type: 'file' },
      { name: 'papers', type: 'file', options: { multiple: true } },
    ],
  });
  const admin = await target.admin();
  const register = (body: object): Pick<Scenario, 'request' | 'body'> => ({
    request: `POST /api/v1/auth/${users}/register`,
    body: { password, ...body },
  });
  await admin.post(`/api/v1/admin/collections/${users}/indexes`, { name: 'nicks', columns: ['nick'], unique: true });
  const registered = (email: string, nick: string | null = null) => ({
    status: 201,
    json: {
      data: { token: is.text, record: record(email, { nick, joined: is.now, seen: null, face: null, papers: [] }) },
    },
  });
  const created = [`${users}.create`];
  await runScenarios(t, target, [
    {
      name: "a password field is not seen, times are the server's",
      ...register({ email: 'ann@example.com', pin: '12345', joined: 1, seen: 'never' }),
      expect: registered('ann@example.com'),
      events: created,
      spec: 'fields §3.11, auth §3.1',
    },
    {
      name: 'no file is none',
      ...register({ email: 'bob@example.com', face: '', papers: [] }),
      expect: registered('bob@example.com'),
      events: created,
      spec: 'fields §2.3',
    },
    {
      name: 'a value under a unique index is free once',
      ...register({ email: 'dan@example.com', nick: 'dan' }),
      expect: registered('dan@example.com', 'dan'),
      events: created,
      spec: 'collections §10.3',
    },
    {
      name: 'and then it is taken',
      ...register({ email: 'eve@example.com', nick: 'dan' }),
      expect: refused.invalid('nick'),
      spec: 'collections §10.3',
    },
    {
      name: 'one that is too large for the index is named',
      ...register({ email: 'eve@example.com', nick: randomBytes(9000).toString('base64') }),
      expect: refused.invalid('nick'),
      spec: 'fields §2.4',
    },
    {
      name: 'a password field keeps to its options, apart from the password',
      ...register({ email: 'cid@example.com', pin: 'abc' }),
      expect: refused.invalid('pin'),
      spec: 'fields §3.11',
    },
    {
      name: 'the names of files that nobody uploaded are refused, with whatever else is wrong',
      ...register({ email: 'cid@example.com', face: 'face_0123456789.png', papers: ['a_0123456789.pdf'], nick: 1 }),
      expect: refused.invalid('face', 'papers', 'nick'),
      spec: 'files §1.1',
    },
    {
      name: 'what is no name at all is refused as well',
      ...register({ email: 'cid@example.com', face: { name: 'x' }, papers: 'a_0123456789.pdf' }),
      expect: refused.invalid('face', 'papers'),
      spec: 'files §1.1',
    },
  ]);
  await t.test('what is stored of the password field is a hash, and leaves in nothing [fields §3.11]', async () => {
    const { json } = await admin.get(`/api/v1/${users}?filter=${encodeURIComponent('email = "ann@example.com"')}`);
    const path = `/api/v1/${users}/${textAt(json, 'data.0.id')}`;
    assert.equal(is.now.fits((await admin.patch(path, { nick: 'ann' })).seen), true, 'an update sets its time');
    for (const request of [path, `${path}/history`]) {
      const { status, text } = await admin.get(request);
      assert.equal(status, 200, text);
      assert.doesNotMatch(text, /"pin"|argon2|12345/, request);
    }
  });
});

onEachTopology('an old password is not guessed at for long', async (t, target) => {
  const users = await givenUsers(target, { update_rule: 'id = @request.auth.id' });
  const ann = await target.guest.post(`/api/v1/auth/${users}/register`, { email: 'ann@example.com', password });
  const anns = createClient(target.url, textAt(ann, 'token'));
  const patch = (old_password: string) =>
    anns.send('PATCH', `/api/v1/${users}/${textAt(ann, 'record.id')}`, {
      body: { password: `${password}!`, old_password },
    });
  const change = (old_password: string) =>
    anns.send('POST', `/api/v1/auth/${users}/change-password`, { body: { password: `${password}!`, old_password } });
  await t.test('ten wrong ones, then 429, here and at change-password, the right one included', async () => {
    for (let count = 0; count < 5; count += 1) {
      assert.equal((await patch(`wrong ${count}`)).status, 422);
      assert.equal((await change(`wrong ${count}`)).status, 422);
    }
    for (const attempt of [patch, change]) {
      const answer = await attempt(password);
      assert.equal(answer.status, 429);
      assert.match(answer.headers['retry-after'] ?? '', /^\d+$/);
    }
    assert.equal(
      (await target.guest.send('POST', `/api/v1/auth/${users}/login`, { body: { email: 'ann@example.com', password } }))
        .status,
      200,
    );
  });
});

onEachTopology('credentials leave in nothing', async (t, target) => {
  const users = await givenUsers(target, { history_enabled: true });
  const admin = await target.admin();
  await using bus = target.natsUrl === undefined ? undefined : await openBusReader(target.natsUrl);
  const ann = await target.guest.post(`/api/v1/auth/${users}/register`, { email: 'ann@example.com', password });
  const id = textAt(ann, 'record.id');
  const anns = createClient(target.url, textAt(ann, 'token'));
  const path = `/api/v1/${users}/${id}`;
  await anns.patch(path, { password: `${password}!`, old_password: password });
  await admin.patch(path, { password, nick: 'ann' });
  const secrets = /argon2|password|totp|token_version|is_anonymous/;
  await t.test('answers, history and lists [records §2.3]', async () => {
    const login = { email: 'ann@example.com', password };
    const texts = [
      await admin.get(path),
      await admin.get(`/api/v1/${users}`),
      await admin.get(`${path}/history`),
      await admin.get(`/api/v1/${users}?fields=id,password_hash,token_version`),
      await target.guest.send('POST', `/api/v1/auth/${users}/login`, { body: login }),
    ].map(({ text }) => text);
    for (const text of texts) assert.doesNotMatch(text, secrets);
    assert.match(texts[2] ?? '', /"totalItems":3/);
  });
  if (bus)
    await t.test('events: one for each write, with the record and nothing else [events §2.4]', async () => {
      const ours = () => bus.events.filter(({ subject }) => subject.startsWith(`events.${users}.`));
      await eventually('the events', () => ours().length === 3);
      for (const { body } of ours()) {
        assert.doesNotMatch(JSON.stringify(body), secrets);
        assert.deepEqual(Object.keys(objectAt(body, 'data.record')).sort(), Object.keys(record('')).sort());
      }
    });
});
