import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { type JsonObject, listAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { pathsOf } from './blog.ts';
import { clientOf, createUsers, signUp } from './users.ts';

const spec = 'records §17';
const collections = '/api/v1/collections';

const fields = [
  { name: 'title', type: 'text', required: true },
  { name: 'stars', type: 'number', options: { default: 1 } },
  { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
];

const make = async (target: Target, name: string, more: object = {}) =>
  (await target.admin()).post(collections, { name, type: 'base', fields, ...more });

const record = (more: JsonObject) => ({ stars: 1, tags: null, created: is.now, updated: is.now, ...more });
const answer = (status: number, data: JsonObject): Scenario['expect'] => ({
  status,
  json: { data: record(data) },
  headers: { etag: is.etag },
});

onEachTopology('PUT with an id creates or changes the record', async (t, target) => {
  await make(target, 'placed');
  const put = (name: string, id: string, body: object, expect: Scenario['expect'], more: object = {}): Scenario => ({
    name,
    request: `PUT /api/v1/records/placed/${id}`,
    body,
    expect,
    spec,
    ...more,
  });
  const created = { events: ['placed.create'] };
  const updated = { events: ['placed.update'] };
  const ids = ['a', 'A', '_-_', '0'.repeat(64), 'history', 'Export'];
  await runScenarios(t, target, [
    put('no record', 'one', { title: 'x' }, answer(201, { id: 'one', title: 'x' }), created),
    put('a record', 'one', { stars: 2 }, answer(200, { id: 'one', title: 'x', stars: 2 }), updated),
    ...pathsOf('placed').flatMap((path, n): Scenario[] => [
      {
        ...put('', '', { title: 'y' }, answer(201, { id: `p${n}`, title: 'y' }), created),
        name: `no record, by ${path}`,
        request: `PUT ${path}/p${n}`,
      },
      {
        ...put('', '', { title: 'z' }, answer(200, { id: `p${n}`, title: 'z' }), updated),
        name: `a record, by ${path}`,
        request: `PUT ${path}/p${n}`,
      },
    ]),
    ...ids.map((id) => put(`the id ${id.slice(0, 9)}`, id, { title: 'x' }, answer(201, { id, title: 'x' }), created)),
    ...['a.b', 'a%20b', 'ä', 'a%00b', '0'.repeat(65), 'aggregate', 'batch', 'export', 'import', 'list', 'search'].map(
      (id) => put(`the id ${id.slice(0, 9)}`, encodeURI(decodeURI(id)), { title: 'x' }, refused.invalid('id')),
    ),
    put(
      'operators apply to nothing',
      'op',
      { title: 'x', stars: { $add: 4 }, tags: { $append: ['a', 'a'] } },
      {
        ...answer(201, { id: 'op', title: 'x', stars: 4, tags: ['a'] }),
      },
      created,
    ),
    put(
      'operators apply to the record',
      'op',
      { stars: { $add: 4 }, tags: { $append: ['b'] } },
      {
        ...answer(200, { id: 'op', title: 'x', stars: 8, tags: ['a', 'b'] }),
      },
      updated,
    ),
    put(
      'an id in the body is ignored',
      'two',
      { id: 'three', title: 'x' },
      answer(201, { id: 'two', title: 'x' }),
      created,
    ),
    put('no record, without a required field', 'none', { stars: 1 }, refused.invalid('title')),
    put('a record, with a wrong value', 'one', { stars: 'x' }, refused.invalid('stars')),
    put('no record, with a wrong value', 'none', { title: 'x', stars: 'x' }, refused.invalid('stars')),
    put(
      'no record, with If-Match',
      'none',
      { title: 'x' },
      { status: 412, json: is.containing({ code: 'precondition_failed' }) },
      { headers: { 'If-Match': 'W/"1"' } },
    ),
    put('no record, with If-Match: *', 'none', { title: 'x' }, { status: 412 }, { headers: { 'If-Match': '*' } }),
    put('a record, with If-Match: *', 'one', { stars: 3 }, answer(200, { id: 'one', title: 'x', stars: 3 }), {
      headers: { 'If-Match': '*' },
      ...updated,
    }),
    put(
      'another version',
      'one',
      { stars: 4 },
      { status: 412, headers: { etag: is.etag } },
      { headers: { 'If-Match': 'W/"1"' } },
    ),
    put('no record, with If-None-Match: *', 'new', { title: 'x' }, answer(201, { id: 'new', title: 'x' }), {
      headers: { 'If-None-Match': '*' },
      ...created,
    }),
    put(
      'a record, with If-None-Match: *',
      'one',
      { title: 'y' },
      { status: 412, headers: { etag: is.etag } },
      { headers: { 'If-None-Match': '*' } },
    ),
    put('another If-None-Match', 'one', { title: 'y' }, refused.malformed, { headers: { 'If-None-Match': 'W/"1"' } }),
    {
      name: 'POST ignores the id',
      request: 'POST /api/v1/placed',
      body: { id: 'mine', title: 'x' },
      expect: answer(201, { id: is.uuidV7, title: 'x' }),
      events: ['placed.create'],
      spec: 'records §5.2',
    },
    { name: 'an unknown collection', request: 'PUT /api/v1/nowhere/a', body: {}, expect: refused.notFound, spec },
  ]);

  await t.test('when 50 request at once, one creates and 49 change', async () => {
    const send = () => target.guest.send('PUT', '/api/v1/placed/many', { body: { title: 'x', stars: { $add: 1 } } });
    const answers = await Promise.all(Array.from({ length: 50 }, send));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(49).fill(200), 201]);
    assert.equal(objectAt((await target.guest.get('/api/v1/placed/many')).json, 'data').stars, 50);
    assert.equal(new Set(answers.map(({ headers }) => headers.etag)).size, 50);
  });

  await t.test('of 50 at once with If-None-Match: * one creates', async () => {
    const headers = { 'If-None-Match': '*' };
    const send = () => target.guest.send('PUT', '/api/v1/placed/once', { body: { title: 'x' }, headers });
    const statuses = (await Promise.all(Array.from({ length: 50 }, send))).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array(49).fill(412)]);
  });

  await t.test('an idempotency key repeats the answer', async () => {
    const sending = { body: { title: 'x', stars: { $add: 1 } }, headers: { 'Idempotency-Key': 'put' } };
    const send = () => target.guest.send('PUT', '/api/v1/placed/keyed', sending);
    const [first, second] = [await send(), await send()];
    assert.deepEqual([first.status, second.status, second.text], [201, 201, first.text]);
  });
});

for (const history_enabled of [false, true]) {
  onEachTopology(`an id that was there repeats no version, history ${history_enabled}`, async (_, target) => {
    const name = `again_${history_enabled}`;
    await make(target, name, { history_enabled });
    const path = `/api/v1/${name}/same`;
    const seen: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      const put = await target.guest.send('PUT', path, { body: { title: 'x' } });
      const patched = await target.guest.send('PATCH', path, { body: { title: 'y' } });
      seen.push(String(put.headers.etag), String(patched.headers.etag));
      await target.guest.delete(path);
    }
    assert.equal(new Set(seen).size, seen.length, seen.join());
  });
}

onEachTopology('rules decide about creating and changing apart', async (t, target) => {
  const admin = await target.admin();
  let made = 0;
  /** Creates a collection with these rules and a record `there`, and returns its path. */
  const makeRuled = async (rules: object): Promise<string> => {
    made += 1;
    await make(target, `ruled_puts${made}`, { create_rule: null, update_rule: null, ...rules });
    const path = `/api/v1/ruled_puts${made}`;
    assert.equal((await admin.send('PUT', `${path}/there`, { body: { title: 'x' } })).status, 201);
    return path;
  };
  const rows: readonly (readonly [rules: object, there: number, missing: number])[] = [
    [{}, 200, 201],
    [{ create_rule: '' }, 200, 403],
    [{ create_rule: 'title = "no"' }, 200, 403],
    [{ update_rule: '' }, 403, 201],
    [{ update_rule: 'title = "no"' }, 403, 201],
    [{ create_rule: '', update_rule: '' }, 403, 403],
    [{ create_rule: '@request.method = "PUT" && @request.body.stars = 4' }, 200, 201],
    [{ update_rule: '@request.body.stars = 5' }, 200, 201],
    [{ update_rule: '@request.body.stars = 4' }, 403, 201],
  ];
  for (const [rules, there, missing] of rows) {
    await t.test(`${there} and ${missing}: ${JSON.stringify(rules)} [${spec}]`, async () => {
      const path = await makeRuled(rules);
      const send = (id: string) =>
        target.guest.send('PUT', `${path}/${id}`, { body: { title: 'y', stars: { $add: 4 } } });
      assert.deepEqual([(await send('there')).status, (await send('new')).status], [there, missing]);
    });
  }
  await t.test('a refusal says nothing about a record that the caller may not change', async () => {
    const path = await makeRuled({ update_rule: '' });
    const wrong = await target.guest.send('PUT', `${path}/there`, { body: { colour: 1 } });
    const only = { body: { title: 'y' }, headers: { 'If-None-Match': '*' } };
    const { status, headers } = await target.guest.send('PUT', `${path}/there`, only);
    assert.deepEqual([wrong.status, status, headers.etag], [403, 403, undefined]);
  });
});

onEachTopology("a record with a deleted one's id does not open its history", async (_, target) => {
  const users = await createUsers(target);
  const own = 'owner = @request.auth.id';
  const owned = { view_rule: own, update_rule: own, delete_rule: own, create_rule: null, history_enabled: true };
  const owner = { name: 'owner', type: 'text', options: { default: '@request.auth.id' } };
  await (await target.admin()).define('notes_of', [fields[0] ?? {}, owner], owned);
  const ada = clientOf(target, await signUp(target, users, 'ada@example.com'));
  const bob = clientOf(target, await signUp(target, users, 'bob@example.com'));
  const path = '/api/v1/notes_of/note';
  const titles = async (client: Client) =>
    listAt((await client.get(`${path}/history`)).json, 'data.data').map((row) => objectAt(row, 'snapshot').title);

  await ada.send('PUT', path, { body: { title: 'secret' } });
  await ada.delete(path);
  assert.equal((await bob.send('PUT', path, { body: { title: 'of bob' } })).status, 201);
  await bob.patch(path, { title: 'still of bob' });
  assert.deepEqual(await titles(bob), ['still of bob', 'of bob']);
  assert.equal((await ada.get(`${path}/history`)).status, 403);
  await bob.delete(path);
  assert.deepEqual(await titles(bob), ['still of bob', 'still of bob', 'of bob']);
  assert.equal((await titles(await target.admin())).length, 5);
});
