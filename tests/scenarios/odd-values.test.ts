import assert from 'node:assert/strict';
import { listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onOneProcess } from '../harness/stacks/target.ts';

const half = '\ud800';
const long = (seed: number): string => {
  let state = seed;
  const letter = (): string => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (state % 90));
  };
  return Array.from({ length: 6000 }, letter).join('');
};

onOneProcess('half a character is refused in every text that is written', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'members', type: 'auth', fields: [{ name: 'nick', type: 'text' }] });
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [{ name: 'meta', type: 'json' }] });
  const password = `a long password ${half}`;
  const refuses = (name: string, request: string, body: object, detail: string, as: 'admin' | 'guest' = 'admin') => ({
    name,
    as,
    request,
    body,
    expect: {
      status: 422,
      json: is.containing({ details: is.containing({ [detail]: is.matching(/half a surrogate/) }) }),
    },
    spec: 'http §2.1',
  });
  await runScenarios(t, target, [
    refuses(
      'a password of register',
      'POST /api/v1/auth/members/register',
      { email: 'a@b.co', password },
      'password',
      'guest',
    ),
    refuses(
      'a password of login',
      'POST /api/v1/auth/members/login',
      { email: 'a@b.co', password },
      'password',
      'guest',
    ),
    refuses('a password of an account', 'POST /api/v1/members', { email: 'a@b.co', password }, 'password'),
    refuses(
      'a field of register',
      'POST /api/v1/auth/members/register',
      { email: 'a@b.co', password: 'a long password', nick: half },
      'nick',
      'guest',
    ),
    refuses('a password of an admin', 'POST /api/v1/admin/admins', { email: 'a@b.co', password }, 'password'),
    refuses('a setting', 'PATCH /api/v1/admin/settings', { 'smtp.from': half }, 'smtp.from'),
    refuses(
      'a webhook',
      'POST /api/v1/admin/webhooks',
      { name: `n${half}`, url: 'https://example.com', events: ['*'] },
      'name',
    ),
    refuses('a value in JSON', 'POST /api/v1/notes', { meta: { a: ['x', half] } }, 'meta.a.1'),
    refuses('a name in JSON', 'POST /api/v1/notes', { meta: { [half]: 1 } }, 'meta.\ufffd'),
    {
      name: 'a whole pair',
      as: 'admin',
      request: 'POST /api/v1/notes',
      rawBody: '{"meta":"\\ud83d\\uDE00 \\\\ud800"}',
      headers: { 'content-type': 'application/json' },
      expect: { status: 201, json: is.containing({ data: is.containing({ meta: '😀 \\ud800' }) }) },
      events: ['notes.create'],
      spec: 'http §2.1',
    },
  ]);
});

onOneProcess('values and definitions at their edges', async (t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'a', type: 'text' },
    { name: 'b', type: 'text' },
    { name: 'site', type: 'url' },
    { name: 'n', type: 'number' },
  ];
  await admin.post('/api/v1/collections', { name: 'edges', type: 'base', fields });
  for (const columns of [['a'], ['b', 'n']])
    await admin.post('/api/v1/admin/collections/edges/indexes', { name: columns.join('_and_'), columns });
  const stored = await admin.create('edges', { b: 'short', n: 1 });
  const select = (values: readonly string[]) => ({
    name: 'chosen',
    type: 'base',
    fields: [{ name: 'kind', type: 'select', options: { values } }],
  });
  const tooLong = (name: string, request: string, body: object, ...named: readonly string[]): Scenario => ({
    name,
    as: 'admin',
    request,
    body,
    expect: refused.invalid(...named),
    spec: 'collections §10.2',
  });
  await runScenarios(t, target, [
    tooLong('a text too long for an index, in a create', 'POST /api/v1/edges', { a: long(1) }, 'a'),
    tooLong('in a create, for an index of two fields', 'POST /api/v1/edges', { b: long(1) }, 'b'),
    tooLong('in a create of both', 'POST /api/v1/edges', { b: long(1), n: 1 }, 'b', 'n'),
    tooLong('in an update', `PATCH /api/v1/edges/${stored.id}`, { a: long(2) }, 'a'),
    tooLong('in an upsert by id', 'PUT /api/v1/edges/new', { b: long(3) }, 'b'),
    {
      name: 'a URL in capitals',
      as: 'admin',
      request: 'POST /api/v1/edges',
      body: { site: 'HTTPS://Example.org/A' },
      expect: { status: 201, json: is.containing({ data: is.containing({ site: 'HTTPS://Example.org/A' }) }) },
      events: ['edges.create'],
      spec: 'fields §3.5',
    },
    {
      name: 'a value twice in a select',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: select(['a', 'b', 'a']),
      expect: refused.invalid('fields.kind.options.values'),
      spec: 'fields §3.8',
    },
    {
      name: 'too many values of a select',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: select(Array(10_001).fill('a')),
      expect: refused.invalid('fields.kind.options.values'),
      spec: 'fields §3.8',
    },
  ]);

  await t.test('NaN and the infinities are null in a view [views §3.2]', async () => {
    const view_query = `select id, 'NaN'::float8 as nan, 'Infinity'::numeric as most, '-Infinity'::real as least,
      'infinity'::timestamptz as never, '-infinity'::date as once, n / 4 as quarter from edges where id = '${stored.id}'`;
    await admin.post('/api/v1/collections', { name: 'numbers', type: 'view', view_query });
    const { json } = await admin.get('/api/v1/records/numbers?filter=nan%20=%20null');
    const row = { id: stored.id, nan: null, most: null, least: null, never: null, once: null, quarter: 0.25 };
    assert.deepEqual(listAt(json, 'data'), [row]);
  });
});
