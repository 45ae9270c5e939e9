import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { auth, clientOf, createUsers, password, signUp } from './users.ts';

const spec = 'fields §2.8';
const collections = '/api/v1/collections';

const fieldsOf = (users: string) => [
  { name: 'state', type: 'select', required: true, options: { values: ['draft', 'done'], default: 'draft' } },
  { name: 'stars', type: 'number', options: { min: 1, default: 3 } },
  { name: 'isOpen', type: 'bool', options: { default: false } },
  { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true, default: ['b'] } },
  { name: 'at', type: 'date', options: { default: '@now' } },
  { name: 'since', type: 'date', options: { default: '2026-01-01T00:00:00Z' } },
  { name: 'extra', type: 'json', options: { default: { a: [1] } } },
  { name: 'note', type: 'text', options: { encrypted: true, default: 'quiet' } },
  { name: 'by', type: 'text', options: { default: '@request.auth.id' } },
  { name: 'owner', type: 'relation', collection: users, options: { default: '@request.auth.id' } },
];

onEachTopology('a create takes defaults', async (t, target) => {
  const users = await createUsers(target);
  await (await target.admin()).post(collections, { name: 'tasks', type: 'base', fields: fieldsOf(users) });
  const defaults = {
    id: is.uuidV7,
    state: 'draft',
    stars: 3,
    isOpen: false,
    tags: ['b'],
    at: is.now,
    since: 1767225600,
    extra: { a: [1] },
    note: 'quiet',
    by: null,
    owner: null,
    created: is.now,
    updated: is.now,
  };
  const created = (name: string, body: object, data: object): Scenario => ({
    name,
    request: 'POST /api/v1/tasks',
    body,
    expect: { status: 201, json: { data: { ...defaults, ...data } } },
    events: ['tasks.create'],
    spec,
  });
  await runScenarios(t, target, [
    created('no field is named', {}, {}),
    created('some fields are named', { state: 'done', stars: 5, tags: [] }, { state: 'done', stars: 5, tags: [] }),
    created('null is named', { stars: null, at: null, extra: null }, { stars: null, at: null, extra: null }),
    { ...created('by an admin', {}, { by: is.uuid }), as: 'admin' },
    {
      name: 'null for a required field',
      request: 'POST /api/v1/tasks',
      body: { state: null },
      expect: refused.invalid('state'),
      spec,
    },
  ]);

  await t.test('the caller is the default for text and relation', async () => {
    const session = await signUp(target, users, 'ada@example.com');
    const id = textAt(session, 'record.id');
    const { by, owner } = await clientOf(target, session).create('tasks', {});
    assert.deepEqual([by, owner], [id, id]);
  });

  await t.test('the API document has them', async () => {
    await eventually('the collection is described', async () => {
      const { json } = await target.guest.get('/api/v1/openapi.json');
      const schemas = objectAt(json, 'components.schemas');
      const { properties, required } = schemas['tasks.create'] as { properties: JsonObject; required?: unknown };
      const defaultsOf = Object.entries(properties).map(([name, schema]) => [name, (schema as JsonObject).default]);
      const { state, stars, isOpen, tags, since, note } = defaults;
      // The description has the default object for `extra`: generators know no such defaults.
      const extra = undefined;
      assert.match(textAt(properties.extra, 'description'), /by default \{"a":\[1\]\}/);
      const known = { state, stars, isOpen, tags, at: undefined, since, extra, note, by: undefined, owner: undefined };
      assert.deepEqual([Object.fromEntries(defaultsOf), required], [known, undefined]);
      return true;
    });
  });

  await t.test('an update takes no defaults', async () => {
    const task = await target.guest.create('tasks', { stars: null });
    assert.equal((await target.guest.patch(`/api/v1/tasks/${task.id}`, { state: 'done' })).stars, null);
  });

  await t.test('rules see the body without defaults and the record with them', async () => {
    const admin = await target.admin();
    const createIs = (status: number) =>
      eventually(`a create is ${status}`, async () => {
        return (await target.guest.send('POST', '/api/v1/tasks', { body: {} })).status === status;
      });
    await admin.patch(`${collections}/tasks`, { create_rule: 'stars = null' });
    await createIs(403);
    await admin.patch(`${collections}/tasks`, { create_rule: '@request.body.stars:isset = false && stars = 3' });
    await createIs(201);
  });
});

onEachTopology('a required field whose default is the caller needs a caller', async (t, target) => {
  const users = await createUsers(target);
  const owner = { name: 'owner', type: 'relation', required: true, collection: users };
  await (await target.admin()).post(collections, {
    name: 'owned',
    type: 'base',
    fields: [{ ...owner, options: { default: '@request.auth.id' } }],
  });
  const create: Omit<Scenario, 'name' | 'expect'> = { request: 'POST /api/v1/owned', body: {}, spec };
  await runScenarios(t, target, [
    { ...create, name: 'a guest', expect: refused.invalid('owner') },
    { ...create, name: 'an admin, who is in no auth collection', as: 'admin', expect: refused.invalid('owner') },
  ]);
});

onEachTopology('new accounts take defaults by every way in', async (_, target) => {
  const admin = await target.admin();
  await admin.patch('/api/v1/admin/settings', { 'auth.anonymous.enabled': '1' });
  const fields = [{ name: 'plan', type: 'text', required: true, options: { default: 'free' } }];
  const users = await createUsers(target, { fields, create_rule: null });
  const account = { email: 'ada@example.com', password };
  const { record: registered } = await target.guest.post(`${auth}/${users}/register`, account);
  const { record: anonymous } = await target.guest.post(`${auth}/${users}/anonymous`, {});
  const created = await target.guest.create(users, { ...account, email: 'bob@example.com' });
  for (const record of [registered, anonymous, created]) assert.equal(textAt(record, 'plan'), 'free');
});

onEachTopology('users may do without an address where the default says so', async (t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'email', type: 'email', options: { default: '@none' } },
    { name: 'nick', type: 'text', required: true, options: { unique: true, ignoreCase: true } },
  ];
  const users = await createUsers(target, { fields, create_rule: null });
  await admin.patch('/api/v1/admin/settings', { [`auth.identity.${users}`]: 'nick' });
  const { record } = await target.guest.post(`${auth}/${users}/register`, { nick: 'Ada', password });
  const address = textAt(record, 'email');
  assert.match(address, /^user_[0-9a-f-]{36}@users\.invalid$/);
  const other = await target.guest.create(users, { nick: 'Bob', password });
  assert.notEqual(textAt(other, 'email'), address);
  const named = await target.guest.create(users, { nick: 'Cy', email: 'cy@example.com', password });
  assert.equal(named.email, 'cy@example.com');

  await t.test('they sign in by another field, in any case [fields §2.6]', async () => {
    await eventually('the setting is known', async () => {
      const body = { identity: 'aDA', password };
      return (await target.guest.send('POST', `${auth}/${users}/login`, { body })).status === 200;
    });
  });

  await t.test('two at once with one name in another case are one account [fields §2.6]', async () => {
    const register = (nick: string) =>
      target.guest.send('POST', `${auth}/${users}/register`, { body: { nick, password } });
    const statuses = (await Promise.all(['Dora', 'DORA', 'dora'].map(register))).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [201, 422, 422]);
  });

  const path = `/api/v1/${users}`;
  await runScenarios(t, target, [
    {
      name: 'null is not an address',
      request: `POST ${path}`,
      body: { nick: 'Eve', email: null, password },
      expect: refused.invalid('email'),
      spec,
    },
    {
      name: 'an address cannot be removed',
      as: 'admin',
      request: `PATCH ${path}/${named.id}`,
      body: { email: null },
      expect: refused.invalid('email'),
      spec,
    },
  ]);

  await t.test('the API document asks for none', async () => {
    await eventually('the collection is described', async () => {
      const { json } = await target.guest.get('/api/v1/openapi.json');
      const schema = objectAt(json, 'components.schemas')[`${users}.create`] as JsonObject | undefined;
      return Array.isArray(schema?.required) && !schema.required.includes('email') && schema.required.includes('nick');
    });
  });

  await t.test('texts that ignore case later must not be there twice [collections §6.4]', async () => {
    await admin.post(collections, {
      name: 'slugs',
      type: 'base',
      fields: [{ name: 'slug', type: 'text', options: { unique: true } }],
    });
    await admin.create('slugs', { slug: 'a' });
    const twin = await admin.create('slugs', { slug: 'A' });
    const change = (ignoreCase: boolean) =>
      admin.send('PATCH', `${collections}/slugs`, {
        body: { fields: [{ name: 'slug', type: 'text', options: { unique: true, ignoreCase } }] },
      });
    assert.equal((await change(true)).status, 422);
    await admin.send('DELETE', `/api/v1/slugs/${twin.id}`);
    const changed = await change(true);
    assert.equal(changed.status, 200, changed.text);
    assert.equal((await admin.send('POST', '/api/v1/slugs', { body: { slug: 'A' } })).status, 422);
    await admin.post('/api/v1/admin/collections/slugs/indexes', {
      name: 'both',
      columns: ['slug', 'created'],
      unique: true,
    });
    const held = await change(false);
    assert.deepEqual(
      [held.status, Object.keys(objectAt(held.json, 'details'))],
      [422, ['fields.slug.options.ignoreCase']],
    );
    await admin.send('DELETE', '/api/v1/admin/collections/slugs/indexes/both');
    assert.equal((await change(false)).status, 200);
    await admin.create('slugs', { slug: 'A' });
  });
});

onEachTopology('each create gets a new random text', async (_, target) => {
  const admin = await target.admin();
  const code = {
    name: 'code',
    type: 'text',
    required: true,
    options: { unique: true, default: '@random([A-Z2-7]{16})' },
  };
  await admin.post(collections, { name: 'codes', type: 'base', fields: [code] });
  const made = await Promise.all(Array.from({ length: 20 }, () => target.guest.create('codes', {})));
  const texts = new Set(made.map((one) => textAt(one, 'code')));
  assert.equal(texts.size, 20);
  for (const text of texts) assert.match(text, /^[A-Z2-7]{16}$/);
  assert.equal((await target.guest.create('codes', { code: 'mine' })).code, 'mine');
});
