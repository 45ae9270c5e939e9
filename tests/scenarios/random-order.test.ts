import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { listAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('a list in random order [filters §9.6]', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'cards',
    type: 'base',
    fields: [
      { name: 'rank', type: 'number' },
      { name: 'above', type: 'relation', collection: 'cards' },
    ],
  });
  const ranks = Array.from({ length: 12 }, (_, rank) => rank);
  for (const rank of ranks) await admin.post('/api/v1/records/cards', { rank });
  const path = '/api/v1/records/cards?sort=@random';
  const draw = async (more = '') =>
    listAt((await admin.get(`${path}&perPage=12${more}`)).json, 'data').map(({ rank }) => Number(rank));

  await t.test('each list has all records, in another order', async () => {
    const first = await draw();
    assert.deepEqual(
      first.toSorted((a, b) => a - b),
      ranks,
    );
    await eventually('the order is another one', async () => String(await draw()) !== String(first));
  });

  await t.test('a filter leaves its records, and the total counts them', async () => {
    assert.deepEqual((await draw('&filter=rank<3')).toSorted(), [0, 1, 2]);
    const { json } = await admin.get(`${path}&filter=rank<3&perPage=1`);
    assert.deepEqual([listAt(json, 'data').length, Object(json).totalItems], [1, 3]);
  });

  await t.test('a body takes it too', async () => {
    const { json } = await admin.send('POST', '/api/v1/records/cards/list', { body: { sort: '@random' } });
    assert.equal(listAt(json, 'data').length, 12);
  });

  for (const [name, query] of [
    ['a cursor', 'sort=@random&cursor='],
    ['another term', 'sort=@random,rank'],
    ['a descending order', 'sort=-@random'],
    ['an expansion', 'expand=cards_via_above(sort:@random)'],
  ] as const)
    await t.test(`${name} is refused`, async () => {
      const answer = await admin.send('GET', `/api/v1/records/cards?${query}`);
      assert.equal(answer.status, 400, answer.text);
    });
});
