import assert from 'node:assert/strict';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import type { RecordJson } from '../harness/clients/client.ts';
import { file } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, listAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { pathsOf } from './blog.ts';
import { fileField, namesOf, upload } from './file-forms.ts';

const spec = 'records §6.3';
const collections = '/api/v1/collections';

const fields = [
  { name: 'likes', type: 'number' },
  { name: 'score', type: 'number', options: { min: 0, max: 10 } },
  { name: 'place', type: 'number', options: { unique: true } },
  { name: 'tags', type: 'select', options: { values: ['a', 'b', 'c', 'd'], multiple: true } },
  { name: 'must', type: 'select', required: true, options: { values: ['a', 'b'], multiple: true } },
  { name: 'one', type: 'select', options: { values: ['a', 'b'] } },
  { name: 'title', type: 'text' },
  { name: 'pin', type: 'password' },
  { name: 'secret', type: 'text', options: { encrypted: true } },
  { name: 'extra', type: 'json' },
  { name: 'at', type: 'geoPoint' },
];

async function makePosts(target: Target, name: string, more: object = {}): Promise<RecordJson> {
  await (await target.admin()).post(collections, { name, type: 'base', fields, ...more });
  return target.guest.create(name, { score: 5, must: ['a'] });
}

onEachTopology('operators change the stored value', async (t, target) => {
  const post = await makePosts(target, 'counted');
  const path = `/api/v1/counted/${post.id}`;
  const change = (name: string, body: object, data: JsonObject): Scenario => ({
    name,
    request: `PATCH ${path}`,
    body,
    expect: { status: 200, json: { data: is.containing(data) }, headers: { etag: is.etag } },
    events: ['counted.update'],
    spec,
  });
  const refusal = (name: string, body: object, field: string): Scenario => ({
    name,
    request: `PATCH ${path}`,
    body,
    expect: refused.invalid(field),
    spec,
  });
  await runScenarios(t, target, [
    change('$add to no value', { likes: { $add: 2.5 } }, { likes: 2.5 }),
    ...pathsOf('counted').map((collection, n) => ({
      ...change(`$add by ${collection}`, { likes: { $add: 1 } }, { likes: 3.5 + n }),
      request: `PATCH ${collection}/${post.id}`,
    })),
    change('$add of less than 0, with other fields', { likes: { $add: -0.5 }, title: 'x' }, { likes: 5, title: 'x' }),
    change('$append to no value', { tags: { $append: ['b'] } }, { tags: ['b'] }),
    change('$append of an existing value', { tags: { $append: ['b'] } }, { tags: ['b'] }),
    change('$prepend and $append', { tags: { $prepend: ['a', 'b'], $append: ['d', 'a'] } }, { tags: ['a', 'b', 'd'] }),
    change('$remove', { tags: { $remove: ['b', 'other'] } }, { tags: ['a', 'd'] }),
    change('$remove and $append move to the end', { tags: { $remove: ['a'], $append: ['a'] } }, { tags: ['d', 'a'] }),
    change('$remove of all', { tags: { $remove: ['a', 'd'] } }, { tags: [] }),
    change('up to a bound', { score: { $add: 5 } }, { score: 10 }),
    change('an object on a json field is a value', { extra: { $add: 1 } }, { extra: { $add: 1 } }),
    refusal('beyond a bound', { score: { $add: 1 } }, 'score'),
    refusal('below a bound', { score: { $add: -10.5 } }, 'score'),
    refusal('beyond 2^53', { likes: { $add: 2 ** 53 } }, 'likes'),
    refusal('an operand beyond 2^53', { likes: { $add: 1e308 } }, 'likes'),
    refusal('an operand that is not a number', { likes: { $add: '1' } }, 'likes'),
    refusal('an unknown operator', { likes: { $multiply: 2 } }, 'likes'),
    refusal('operators of two kinds', { likes: { $add: 1, $append: ['a'] } }, 'likes'),
    refusal('an operator of another type', { tags: { $add: 1 } }, 'tags'),
    refusal('an operator next to something else', { likes: { $add: 1, by: 1 } }, 'likes'),
    refusal('a value that the field does not take', { tags: { $append: ['e'] } }, 'tags'),
    refusal('no list', { tags: { $append: 'a' } }, 'tags'),
    refusal('a removed value that is not text', { tags: { $remove: [1] } }, 'tags'),
    refusal('a required list that would be empty', { must: { $remove: ['a'] } }, 'must'),
    refusal('a list operator on one value', { one: { $append: ['a'] } }, 'one'),
    refusal('a text', { title: { $append: ['a'] } }, 'title'),
    refusal('an encrypted field', { secret: { $append: ['a'] } }, 'secret'),
    refusal('a password', { pin: { $append: ['a'] } }, 'pin'),
    refusal('a point', { at: { $add: 1 } }, 'at'),
    {
      name: 'all problems at once',
      request: `PATCH ${path}`,
      body: { likes: { $add: 'x' }, title: 1 },
      expect: refused.invalid('likes', 'title'),
      spec: 'records §5.4',
    },
    {
      name: 'a create',
      request: 'POST /api/v1/counted',
      body: { must: ['a'], likes: { $add: 1 } },
      expect: refused.invalid('likes'),
      spec,
    },
    {
      name: 'a record that does not exist',
      request: 'PATCH /api/v1/counted/nothing',
      body: { likes: { $add: 1 } },
      expect: refused.notFound,
      spec: 'records §13.2',
    },
    {
      name: 'another version',
      request: `PATCH ${path}`,
      headers: { 'If-Match': 'W/"1"' },
      body: { score: { $add: 100 } },
      expect: { status: 412 },
      spec: 'records §9.1',
    },
  ]);

  await t.test('a refused operator does not change the record', async () => {
    const before = await target.guest.get(path);
    const { status } = await target.guest.send('PATCH', path, { body: { likes: { $add: 1 }, score: { $add: 1 } } });
    assert.deepEqual([status, (await target.guest.get(path)).text], [422, before.text]);
  });

  await t.test('a result that violates a unique index is refused', async () => {
    await target.guest.create('counted', { place: 2, must: ['a'] });
    const other = await target.guest.create('counted', { place: 1, must: ['a'] });
    const body = { place: { $add: 1 } };
    const { status, json } = await target.guest.send('PATCH', `/api/v1/counted/${other.id}`, { body });
    assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, ['place']]);
  });
});

onEachTopology("many callers' operators at once are all applied", async (_, target) => {
  const post = await makePosts(target, 'busy_counts');
  const path = `/api/v1/busy_counts/${post.id}`;
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      target.guest.send('PATCH', path, { body: { likes: { $add: 1 }, tags: { $append: ['abcd'.charAt(n % 4)] } } }),
    ),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  const record = objectAt((await target.guest.get(path)).json, 'data');
  assert.deepEqual([record.likes, [...(record.tags as string[])].sort()], [100, ['a', 'b', 'c', 'd']]);
  const sums = answers.map(({ json }) => objectAt(json, 'data').likes);
  assert.deepEqual(new Set(sums), new Set(Array.from({ length: 100 }, (_, n) => n + 1)));
});

onEachTopology('history and events have what operators result in', async (_, target) => {
  const post = await makePosts(target, 'kept_counts', { history_enabled: true });
  const path = `/api/v1/kept_counts/${post.id}`;
  const { natsUrl } = target;
  await using bus = natsUrl === undefined ? undefined : await openBusReader(natsUrl, { isFromNow: true });
  await target.guest.patch(path, { likes: { $add: 4 }, tags: { $append: ['a'] } });
  const [last] = listAt((await target.guest.get(`${path}/history`)).json, 'data.data');
  assert.deepEqual([objectAt(last, 'snapshot').likes, objectAt(last, 'snapshot').tags], [4, ['a']]);
  if (!bus) return;
  const event = await eventually('the event', () =>
    bus.events.find(({ subject }) => subject.startsWith('events.kept_counts.update')),
  );
  const data = objectAt(event.body, 'data');
  assert.deepEqual([objectAt(data, 'record').likes, data.changed], [4, ['likes', 'tags']]);
});

onEachTopology('an idempotency key applies operators once', async (_, target) => {
  const post = await makePosts(target, 'keyed_counts');
  const path = `/api/v1/keyed_counts/${post.id}`;
  const sending = { body: { likes: { $add: 1 } }, headers: { 'Idempotency-Key': 'count' } };
  const [first, second] = [
    await target.guest.send('PATCH', path, sending),
    await target.guest.send('PATCH', path, sending),
  ];
  assert.deepEqual([first.status, second.status, second.text], [200, 200, first.text]);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(objectAt((await target.guest.get(path)).json, 'data').likes, 1);
});

onEachTopology('rules see what operators result in', async (t, target) => {
  const admin = await target.admin();
  const post = await makePosts(target, 'ruled_counts');
  const path = `/api/v1/ruled_counts/${post.id}`;
  const rows: readonly (readonly [rule: string, body: object, status: number])[] = [
    ['@request.body.likes <= 2', { likes: { $add: 2 } }, 200],
    ['@request.body.likes <= 2', { likes: { $add: 1 } }, 403],
    ['@request.body.tags != "d"', { tags: { $append: ['c'] } }, 200],
    ['@request.body.tags != "d"', { tags: { $append: ['d'] } }, 403],
    ['@request.body.tags:changed = false', { tags: { $append: ['c'] } }, 200],
    ['@request.body.tags:changed = false', { tags: { $append: ['d'] } }, 403],
    ['@request.body.likes:isset = false', { likes: { $add: 0 } }, 403],
    ['likes = 2', { likes: { $add: 1 } }, 200],
    ['likes = 2', { likes: { $add: 1 } }, 403],
    // A refused result would reveal the stored value.
    ['likes = 2', { score: { $add: 100 } }, 403],
    ['@request.body.likes:isset = true', { score: { $add: 100 } }, 403],
    ['@request.body.likes:isset = false', { score: { $add: 100 } }, 422],
  ];
  for (const [update_rule, body, status] of rows) {
    await t.test(`${status}: ${update_rule} ${JSON.stringify(body)} [${spec}]`, async () => {
      await admin.patch(`${collections}/ruled_counts`, { update_rule });
      await eventually('the rule decides', async () => {
        const answer = await target.guest.send('PATCH', path, { body });
        assert.equal(answer.status, status, answer.text);
        return true;
      });
    });
  }
});

onEachTopology('$remove takes files out of a list', async (t, target) => {
  await (await target.admin()).define('papers', [
    fileField('papers', { multiple: true }),
    { ...fileField('needed', { multiple: true }), required: true },
    fileField('single'),
  ]);
  const made = await upload(
    target.guest,
    '/api/v1/papers',
    ...['a.txt', 'b.txt', 'c.txt'].map((name) => file('papers', name, name)),
    file('needed', 'n.txt', 'n'),
  );
  const path = `/api/v1/papers/${made.id}`;
  const [a = '', b = '', c = ''] = namesOf(made, 'papers');

  await t.test('the others stay, in their order, and its bytes are gone', async () => {
    const changed = await target.guest.patch(path, { papers: { $remove: [b, 'unknown.txt'] } });
    assert.deepEqual(changed.papers, [a, c]);
    const bytes = (name: string) => target.guest.get(`/api/files/papers/${made.id}/${name}`);
    await eventually('the file is gone', async () => (await bytes(b)).status === 404);
    assert.equal((await bytes(a)).text, 'a.txt');
  });

  await t.test('an upload next to it adds files', async () => {
    const json = { name: '_json', content: JSON.stringify({ papers: { $remove: [a] } }) };
    const [kept, added = '', ...others] = namesOf(
      await upload(target.guest, path, json, file('papers', 'd.txt', 'd')),
      'papers',
    );
    assert.deepEqual([kept, others], [c, []]);
    assert.match(added, /^d_/);
  });

  await t.test('refusals leave the files', async () => {
    const bodies = [
      { needed: { $remove: namesOf(made, 'needed') } },
      { papers: { $append: ['x.txt'] } },
      { papers: { $remove: 'x.txt' } },
      { single: { $remove: ['x.txt'] } },
    ];
    for (const body of bodies) {
      const { status, json } = await target.guest.send('PATCH', path, { body });
      assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, Object.keys(body)]);
    }
  });
});
