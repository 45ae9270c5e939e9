import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { auth, createUsers, password, userRecord } from './users.ts';

onEachTopology('an auth collection has the system fields email and verified', async (t, target) => {
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
      name: 'email and verified are added',
      ...collection({ name: `${name}1`, fields: [] }),
      expect: withFields({ ...email, options: is.containing({ unique: true }) }, verified),
    },
    {
      name: 'changed options; email stays required and unique',
      ...collection({
        name: `${name}2`,
        fields: [{ name: 'email', type: 'email', required: false, options: { max: 30, unique: false } }],
      }),
      expect: withFields(verified, { ...email, options: is.containing({ max: 30, unique: true }) }),
    },
    {
      name: 'system fields with other types',
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
      name: 'email in another case',
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
        name: `the reserved name ${reserved}`,
        ...collection({ name: `${name}5`, fields: [{ name: reserved, type: 'text' }] }),
        expect: refused.naming(reserved),
      }),
    ),
  ]);
  await t.test(
    'a change keeps the system fields that it leaves out, and cannot rename them [collections §2.2]',
    async () => {
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
    },
  );
});

onEachTopology('registration writes every field type, as a create does', async (t, target) => {
  const users = await createUsers(target, {
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
    request: `POST ${auth}/${users}/register`,
    body: { password, ...body },
  });
  await admin.post(`/api/v1/admin/collections/${users}/indexes`, { name: 'nicks', columns: ['nick'], unique: true });
  const registered = (email: string, nick: string | null = null) => ({
    status: 201,
    json: {
      data: { token: is.text, record: userRecord(email, { nick, joined: is.now, seen: null, face: null, papers: [] }) },
    },
  });
  const created = [`${users}.create`];
  await runScenarios(t, target, [
    {
      name: 'a hidden password field, and times that the server sets',
      ...register({ email: 'ann@example.com', pin: '12345', joined: 1, seen: 'never' }),
      expect: registered('ann@example.com'),
      events: created,
      spec: 'fields §3.11, auth §3.1',
    },
    {
      name: 'empty file fields',
      ...register({ email: 'bob@example.com', face: '', papers: [] }),
      expect: registered('bob@example.com'),
      events: created,
      spec: 'fields §2.3',
    },
    {
      name: 'a new value of a unique index',
      ...register({ email: 'dan@example.com', nick: 'dan' }),
      expect: registered('dan@example.com', 'dan'),
      events: created,
      spec: 'collections §10.3',
    },
    {
      name: 'a taken value of a unique index',
      ...register({ email: 'eve@example.com', nick: 'dan' }),
      expect: refused.invalid('nick'),
      spec: 'collections §10.3',
    },
    {
      name: 'a value too large for its index',
      ...register({ email: 'eve@example.com', nick: randomBytes(9000).toString('base64') }),
      expect: refused.invalid('nick'),
      spec: 'fields §2.4',
    },
    {
      name: 'a password field shorter than its minimum',
      ...register({ email: 'cid@example.com', pin: 'abc' }),
      expect: refused.invalid('pin'),
      spec: 'fields §3.11',
    },
    {
      name: 'names of files without an upload, and another invalid field',
      ...register({ email: 'cid@example.com', face: 'face_0123456789.png', papers: ['a_0123456789.pdf'], nick: 1 }),
      expect: refused.invalid('face', 'papers', 'nick'),
      spec: 'files §1.1',
    },
    {
      name: 'file fields that hold no file name',
      ...register({ email: 'cid@example.com', face: { name: 'x' }, papers: 'a_0123456789.pdf' }),
      expect: refused.invalid('face', 'papers'),
      spec: 'files §1.1',
    },
  ]);
  await t.test('no answer contains the password field or its hash [fields §3.11]', async () => {
    const { json } = await admin.get(`/api/v1/${users}?filter=${encodeURIComponent('email = "ann@example.com"')}`);
    const path = `/api/v1/${users}/${textAt(json, 'data.0.id')}`;
    assert.equal(is.now.fits((await admin.patch(path, { nick: 'ann' })).seen), true, 'an update sets the time');
    for (const request of [path, `${path}/history`]) {
      const { status, text } = await admin.get(request);
      assert.equal(status, 200, text);
      assert.doesNotMatch(text, /"pin"|argon2|12345/, request);
    }
  });
});
