import assert from 'node:assert/strict';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const vector = (name: string, dimensions: number) => ({ name, type: 'vector', options: { dimensions } });

onEachTopology('a vector search finds records', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'title', type: 'text' }, vector('place', 2)];
  await admin.define('points', fields, { list_rule: 'title != "hidden"' });
  await admin.define('long', [vector('v', 4096)]);
  const east = await admin.create('points', { title: 'east', place: [2, 0] });
  const north = await admin.create('points', { title: 'north', place: [0, 0.1] });
  const west = await admin.create('points', { title: 'west', place: [-3, 0] });
  const zero = await admin.create('points', { title: 'zero', place: [0, 0] });
  const hidden = await admin.create('points', { title: 'hidden', place: [1, 0] });
  await admin.create('points', { title: 'nowhere' });

  const search = (more: string, vector = '[1,0]') =>
    `GET /api/v1/points?nearVector=${encodeURIComponent(vector)}&nearVectorField=place${more}`;
  const finds = (name: string, request: string, data: object[], perPage = 10, as: Caller = 'guest'): Scenario => ({
    name,
    as,
    request,
    expect: {
      status: 200,
      json: { data, page: 1, perPage, totalItems: data.length, totalPages: data.length > 0 ? 1 : 0 },
    },
    spec: 'vectors §2',
  });
  const fails = (status: 400 | 422, name: string, request: string): Scenario => ({
    name,
    request,
    expect: status === 400 ? { status, json: is.containing({ code: is.code }) } : refused.invalid('nearVector'),
    spec: 'vectors §1.3',
  });
  const ties = [
    { ...north, _score: 0 },
    { ...zero, _score: 0 },
  ];
  const long = Array.from({ length: 4096 }, (_, index) => Math.sin(index) * 1e-5);
  const found = await admin.create('long', { v: long });

  await runScenarios(t, target, [
    finds('visible records with a vector, most similar first, and zero vectors with 0', search(''), [
      { ...east, _score: 1 },
      ...ties,
      { ...west, _score: -1 },
    ]),
    finds(
      'records that the list rule hides, for an admin',
      search('&nearLimit=2'),
      [
        { ...east, _score: 1 },
        { ...hidden, _score: 1 },
      ],
      2,
      'admin',
    ),
    finds('with a filter', search(`&filter=${encodeURIComponent('title ~ "ST"')}`), [
      { ...east, _score: 1 },
      { ...west, _score: -1 },
    ]),
    finds('with nearMinScore', search('&nearMinScore=0.5&fields=title'), [{ id: east.id, title: 'east', _score: 1 }]),
    finds('no records below nearMinScore', search('&nearMinScore=0.5', '[0,0]'), []),
    finds('nearLimit, clamped', search('&nearLimit=100000&nearMinScore=1'), [{ ...east, _score: 1 }], 1000),
    {
      name: '4,096 dimensions in a query',
      request: `GET /api/v1/long?nearVectorField=v&nearVector=${encodeURIComponent(JSON.stringify(long))}`,
      expect: { status: 200, json: is.containing({ data: [{ ...found, _score: 1 }] }) },
      spec: 'vectors §2.5',
    },
    fails(400, 'a vector that is not a JSON array', search('', '5')),
    fails(400, 'a vector without a field', 'GET /api/v1/points?nearVector=[1,0]'),
    fails(400, 'a field that is not a vector', 'GET /api/v1/points?nearVector=[1,0]&nearVectorField=title'),
    fails(400, 'a limit that is not a number', search('&nearLimit=x')),
    fails(422, 'a vector of another length', search('', '[1,0,0]')),
    fails(422, 'a vector with a member that is not a number', search('', '[1,null]')),
    {
      name: 'a write of a vector with another length',
      request: 'POST /api/v1/points',
      body: { place: [1, 2, 3] },
      expect: refused.invalid('place'),
      spec: 'fields §3.14',
    },
  ]);

  await t.test('a request line beyond 128 KiB is 431 [http §2.7]', async () => {
    const { status, json } = await target.guest.get(`/api/v1/points?filter=${'a'.repeat(128 * 1024)}`);
    assert.equal(status, 431);
    assert.equal(is.containing({ error: is.text, code: is.code }).fits(json), true);
  });

  await t.test('an almost 128 KiB long request line is read [http §2.7]', async () => {
    const { status } = await target.guest.get(`/api/v1/points?colour=${'a'.repeat(126 * 1024)}`);
    assert.equal(status, 200);
  });
});
