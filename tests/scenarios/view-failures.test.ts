import assert from 'node:assert/strict';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const word = 'confidential';
/** The whole answer, without the database's message. */
const failed = {
  status: 422,
  json: { error: 'the view cannot be computed from its current data', code: 'view_failed' },
};

onEachTopology('a view that cannot be computed does not reveal its data', async (t, target) => {
  const admin = await target.admin();
  const text = (name: string) => ({ name, type: 'text' });
  const open = { list_rule: null, view_rule: null };
  const view = (name: string, view_query: string) =>
    admin.post('/api/v1/collections', { name, type: 'view', view_query, ...open });
  await admin.post('/api/v1/collections', {
    name: 'papers',
    type: 'base',
    fields: [text('title'), { name: 'stars', type: 'number' }, { name: 'of', type: 'relation', collection: 'papers' }],
  });
  await view('as_numbers', 'select id, title::numeric as n from papers');
  await view('shares', 'select id, 1 / stars as share from papers');
  await view('only_ones', 'select p.id, (select c.title from papers c where c.of = p.id) as child from papers p');
  await view('powers', 'select id, power(10, 300 + stars * 100) as power from papers');
  await view('of_numbers', 'select id, n + 1 as next from as_numbers');
  const paper = await admin.create('papers', { title: '7', stars: 1 });
  await admin.patch(`/api/v1/papers/${paper.id}`, { title: `${word}: 42`, stars: 0 });
  for (let left = 2; left > 0; left -= 1) await admin.create('papers', { title: word, stars: 20, of: paper.id });

  const fails = (request: string): Scenario => ({
    name: request,
    request: `GET /api/v1/${request}`,
    expect: failed,
    spec: 'views §5.2',
  });
  const filter = (expression: string) => `filter=${encodeURIComponent(expression)}`;
  await runScenarios(t, target, [
    fails('as_numbers'),
    fails(`as_numbers/${paper.id}`),
    fails(`as_numbers?${filter('n > 1')}`),
    fails('shares?sort=-share'),
    fails(`shares/${paper.id}?fields=share`),
    fails('only_ones'),
    fails(`only_ones/${paper.id}`),
    fails('powers?skipTotal=1'),
    fails('of_numbers'),
    fails(`of_numbers/${paper.id}`),
    {
      name: 'a record that the view reads',
      as: 'admin',
      request: `GET /api/v1/papers/${paper.id}`,
      expect: { status: 200 },
      spec: 'views §5.2',
    },
  ]);
  if (target.logLines.length > 0)
    await t.test("the log has the database's message and the view's name [views §5.2]", () => {
      const lines = target.logLines.filter((line) => line.includes('cannot compute a view from its data'));
      for (const name of ['as_numbers', 'shares', 'only_ones', 'powers', 'of_numbers'])
        assert.ok(
          lines.some((line) => line.includes(`"${name}"`)),
          name,
        );
      assert.ok(lines.some((line) => line.includes(word)));
    });
});
