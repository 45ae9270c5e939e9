import assert from 'node:assert/strict';
import { multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { pathsOf } from './blog.ts';
import { clientOf } from './users.ts';

const spec = 'records §17.3';
const collections = '/api/v1/collections';

const fields = [
  { name: 'slug', type: 'text', options: { unique: true } },
  { name: 'mail', type: 'email', options: { unique: true } },
  { name: 'year', type: 'number' },
  { name: 'place', type: 'text' },
  { name: 'title', type: 'text' },
  { name: 'needed', type: 'text', required: true },
];

async function make(target: Target, name: string, more: object = {}): Promise<void> {
  const admin = await target.admin();
  await admin.post(collections, { name, type: 'base', fields, ...more });
  const index = { name: 'by_year', columns: ['year', 'place'], unique: true };
  await admin.post(`/api/v1/admin/collections/${name}/indexes`, index);
}

onEachTopology('PUT with on creates a record, or changes the one with the values', async (t, target) => {
  await make(target, 'matched');
  const none = { slug: null, mail: null, year: null, place: null, title: null, needed: 'x' };
  const put = (name: string, on: string, body: object, expect: Scenario['expect'], more: object = {}): Scenario => ({
    name,
    request: `PUT /api/v1/records/matched?on=${on}`,
    body,
    expect,
    spec,
    ...more,
  });
  const answer = (status: number, data: JsonObject): Scenario['expect'] => ({
    status,
    json: { data: { ...none, id: is.uuidV7, created: is.now, updated: is.now, ...data } },
    headers: { etag: is.etag },
  });
  const created = { events: ['matched.create'] };
  const updated = { events: ['matched.update'] };
  const noOn: Scenario['expect'] = {
    status: 400,
    json: { error: 'on: is required', code: 'malformed_request', details: { on: 'is required' } },
  };
  const badOn = refused.malformedWith({ on: is.text });
  const mail = { mail: 'Ada@example.com', needed: 'x' };
  const pair = { year: 2026, place: 'here', needed: 'x' };
  await runScenarios(t, target, [
    put('no record', 'slug', { slug: 'a', needed: 'x' }, answer(201, { slug: 'a' }), created),
    ...pathsOf('matched').map((path) => ({
      ...put('', '', { slug: 'a', title: 'y' }, answer(200, { slug: 'a', title: 'y' }), updated),
      name: `a record, by ${path}`,
      request: `PUT ${path}?on=slug`,
    })),
    put('an address', 'mail', mail, answer(201, { mail: 'Ada@example.com' }), created),
    put(
      'an address in another case',
      'mail',
      { mail: 'ada@EXAMPLE.com' },
      answer(200, { mail: 'ada@EXAMPLE.com' }),
      updated,
    ),
    put('a unique index', 'year,place', pair, answer(201, { year: 2026, place: 'here' }), created),
    put(
      'its columns in another order',
      'place,year',
      { ...pair, title: 'z' },
      answer(200, { year: 2026, place: 'here', title: 'z' }),
      updated,
    ),
    put(
      'another value of one column',
      'place,year',
      { ...pair, year: 1 },
      answer(201, { year: 1, place: 'here' }),
      created,
    ),
    put(
      'a name of a person with an injection',
      'slug',
      { slug: `' or ''='`, needed: 'x' },
      answer(201, { slug: `' or ''='` }),
      created,
    ),
    put('a field that is not unique', 'title', { title: 'y', needed: 'x' }, badOn),
    put('a part of an index', 'year', pair, badOn),
    put('more than an index', 'year,place,slug', { ...pair, slug: 'b' }, badOn),
    put('a field twice', 'slug,slug', { slug: 'a' }, badOn),
    put('an unknown field', 'colour', { colour: 'red' }, badOn),
    put('the id', 'id', { id: 'a' }, badOn),
    put('nothing', '', { slug: 'a' }, noOn),
    ...pathsOf('matched').map((path) => ({
      ...put('', '', { slug: 'a' }, noOn),
      name: `no parameter, at ${path}`,
      request: `PUT ${path}`,
    })),
    { ...put('neither parameter nor body', '', {}, noOn), body: undefined, request: 'PUT /api/v1/matched' },
    put('a body without the value', 'slug', { needed: 'x' }, refused.invalid('slug')),
    put('null', 'slug', { slug: null, needed: 'x' }, refused.invalid('slug')),
    put('an empty text', 'slug', { slug: '', needed: 'x' }, refused.invalid('slug')),
    put('one value of two', 'year,place', { year: 1, needed: 'x' }, refused.invalid('place')),
    put('an operator', 'year,place', { ...pair, year: { $add: 1 } }, refused.invalid('year')),
    put('a value of another type', 'slug', { slug: 1, needed: 'x' }, refused.invalid('slug')),
    put('no record, without a required field', 'slug', { slug: 'new' }, refused.invalid('needed')),
    put('another unique value that is taken', 'slug', { slug: 'a', mail: 'ada@example.com' }, refused.invalid('mail')),
    put(
      'another taken value, without a record',
      'slug',
      { slug: 'n', mail: 'ada@example.com', needed: 'x' },
      refused.invalid('mail'),
    ),
    put(
      'no record, with If-Match',
      'slug',
      { slug: 'new', needed: 'x' },
      { status: 412 },
      { headers: { 'If-Match': '*' } },
    ),
    put(
      'another version',
      'slug',
      { slug: 'a' },
      { status: 412, headers: { etag: is.etag } },
      { headers: { 'If-Match': 'W/"1"' } },
    ),
    put(
      'a record, with If-None-Match: *',
      'slug',
      { slug: 'a', needed: 'x' },
      { status: 412 },
      { headers: { 'If-None-Match': '*' } },
    ),
    {
      ...put('a form', 'slug', {}, refused.unsupported),
      body: undefined,
      ...multipart({ name: 'slug', content: 'a' }),
    },
    { ...put('a view', '', {}, { status: 404 }), request: 'PUT /api/v1/nowhere?on=a' },
  ]);

  await t.test('when 50 request at once, one creates and 49 change', async () => {
    for (const [on, body] of [
      ['slug', { slug: 'many' }],
      ['year,place', { year: 1950, place: 'many' }],
    ] as const) {
      const send = (_: unknown, n: number) =>
        target.guest.send('PUT', `/api/v1/matched?on=${on}`, { body: { ...body, title: `t${n}`, needed: 'x' } });
      const answers = await Promise.all(Array.from({ length: 50 }, send));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(49).fill(200), 201]);
      assert.equal(new Set(answers.map(({ json }) => textAt(json, 'data.id'))).size, 1);
    }
  });

  await t.test('operators count from nothing and from the stored value', async () => {
    const count = () =>
      target.guest.send('PUT', '/api/v1/matched?on=slug', {
        body: { slug: 'counter', needed: 'x', year: { $add: 1 } },
      });
    await Promise.all(Array.from({ length: 20 }, count));
    assert.equal(objectAt((await count()).json, 'data').year, 21);
  });
});

onEachTopology('rules decide about an upsert as about a create or an update', async (t, target) => {
  const rows: readonly (readonly [rules: object, there: number, missing: number])[] = [
    [{ create_rule: '' }, 200, 403],
    [{ create_rule: 'slug = "no"' }, 200, 403],
    [{ update_rule: '' }, 403, 201],
    [{ update_rule: 'slug = "no"' }, 403, 201],
    [{ update_rule: '@request.body.year = 3' }, 200, 201],
    [{ update_rule: '@request.body.year = 2' }, 403, 201],
  ];
  for (const [index, [rules, there, missing]] of rows.entries()) {
    await t.test(`${there} and ${missing}: ${JSON.stringify(rules)}`, async () => {
      const name = `ruled_upserts${index}`;
      await make(target, name, { create_rule: null, update_rule: null, ...rules });
      const admin = await target.admin();
      await admin.create(name, { slug: 'there', needed: 'x', year: 1 });
      const send = (slug: string) =>
        target.guest.send('PUT', `/api/v1/${name}?on=slug`, { body: { slug, needed: 'y', year: { $add: 2 } } });
      assert.deepEqual([(await send('there')).status, (await send('new')).status], [there, missing]);
    });
  }
});

onEachTopology("an account upsert signs up, or changes one's own account", async (t, target) => {
  const admin = await target.admin();
  const users = 'upserted_users';
  await admin.post(collections, {
    name: users,
    type: 'auth',
    fields: [{ name: 'nick', type: 'text' }],
    create_rule: null,
  });
  const path = `/api/v1/${users}?on=email`;
  const account = { email: 'ada@example.com', password: 'a long and winding password' };
  const put = (body: object, client = target.guest) => client.send('PUT', path, { body });
  assert.equal((await put(account)).status, 201);
  const login = await target.guest.post(`/api/v1/auth/${users}/login`, account, 200);
  const own = clientOf(target, login);

  await t.test('others are refused', async () => {
    assert.equal((await put({ email: 'ADA@example.com', nick: 'x' })).status, 403);
  });
  await t.test('the own account is changed', async () => {
    const { status, json } = await put({ email: 'Ada@example.com', nick: 'x' }, own);
    assert.deepEqual([status, objectAt(json, 'data').nick], [200, 'x']);
  });
  await t.test('a new password needs the old one', async () => {
    const { status, json } = await put({ ...account, password: 'another long password' }, own);
    assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, ['old_password']]);
  });
  await t.test('only admins set verified', async () => {
    assert.equal((await put({ ...account, email: 'bob@example.com', verified: true })).status, 403);
    const { status, json } = await put({ email: 'bob@example.com', verified: true }, admin);
    assert.deepEqual([status, objectAt(json, 'data').verified], [201, true]);
  });
  await t.test('closed sign-up creates no account', async () => {
    await admin.patch('/api/v1/admin/settings', { [`auth.sign_up.${users}`]: 'closed' });
    // Services follow the settings within a second, and until then create more accounts.
    let count = 0;
    const refused = await eventually('sign-up is closed', async () => {
      count += 1;
      const answer = await put({ ...account, email: `cy${count}@example.com` });
      return answer.status === 201 ? undefined : answer;
    });
    assert.deepEqual([refused.status, textAt(refused.json, 'code')], [403, 'sign_up_closed']);
    assert.equal((await put({ email: 'Ada@example.com', nick: 'y' }, own)).status, 200);
  });
});

onEachTopology('field rules hold for a PUT and for operators', async (t, target) => {
  const admin = await target.admin();
  await admin.post(collections, {
    name: 'guarded',
    type: 'base',
    fields: [
      { name: 'code', type: 'text', view_rule: '', options: { unique: true } },
      { name: 'slug', type: 'text', options: { unique: true } },
      { name: 'likes', type: 'number', write_rule: '@request.body.likes <= 2' },
      { name: 'state', type: 'text', write_rule: '', options: { default: 'new' } },
    ],
  });
  const put = (path: string, body: object) => target.guest.send('PUT', `/api/v1/guarded${path}`, { body });
  const rows: readonly (readonly [path: string, body: object, status: number])[] = [
    ['?on=code', { code: 'a' }, 400],
    ['/one', { state: 'x' }, 403],
    ['?on=slug', { slug: 'a', state: 'x' }, 403],
    ['/one', { likes: { $add: 3 } }, 403],
    ['/one', { likes: { $add: 1 } }, 201],
    ['/one', { likes: { $add: 1 } }, 200],
    ['/one', { likes: { $add: 1 } }, 403],
    ['?on=slug', { slug: 'a', likes: { $add: 2 } }, 201],
    ['?on=slug', { slug: 'a', likes: { $add: 1 } }, 403],
    ['?on=slug', { slug: 'a', likes: 1 }, 200],
  ];
  for (const [path, body, status] of rows) {
    await t.test(`${status}: ${path} ${JSON.stringify(body)} [records §17.3]`, async () => {
      const answer = await put(path, body);
      assert.equal(answer.status, status, answer.text);
      if (status < 300)
        assert.deepEqual(
          [objectAt(answer.json, 'data').state, 'code' in objectAt(answer.json, 'data')],
          ['new', false],
        );
    });
  }
});
