import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

const spec = 'records §10.5';
const encoded = encodeURIComponent;

onEachTopology('expand shows the records whose lists have a record', async (t, target) => {
  const admin = await target.admin();
  await admin.define('tags', [{ name: 'name', type: 'text' }]);
  await admin.define(
    'posts',
    [
      several('tags', 'tags'),
      several('kept', 'tags', {}, { view_rule: 'n > 3' }),
      several('closed', 'tags', {}, { view_rule: '' }),
      { name: 'n', type: 'number' },
      { name: 'isHidden', type: 'bool' },
    ],
    { view_rule: 'isHidden != true' },
  );
  const a = await admin.create('tags', { name: 'a' });
  const b = await admin.create('tags', { name: 'b' });
  const unused = await admin.create('tags', { name: 'unused' });
  // Each post has the tag at another position in its list, and the last post is hidden.
  const lists = [[a.id], [b.id, a.id], [a.id, b.id], [unused.id, b.id, a.id], [b.id], [a.id]];
  for (const [index, tags] of lists.entries())
    await admin.create('posts', { tags, kept: [a.id], closed: [a.id], n: index + 1, isHidden: index === 5 });
  await admin.delete(`/api/v1/tags/${unused.id}`);

  const of = (numbers: readonly number[]) => numbers.map((n) => is.containing({ n }));
  const shows = (name: string, expand: string, shown: unknown, as: Caller = 'guest'): Scenario => ({
    name,
    as,
    request: `GET /api/v1/tags/${a.id}?expand=${encoded(expand)}`,
    expect: { status: 200, json: { data: is.containing({ expand: shown }) } },
    spec,
  });
  const ofTags = (name: string, options: string, numbers: readonly number[], as?: Caller) =>
    shows(name, `posts_via_tags${options}`, { posts_via_tags: of(numbers) }, as);
  const withTotal = (name: string, options: string, [numbers, total]: readonly [number[], number], as?: Caller) =>
    shows(name, `posts_via_tags(${options})`, { posts_via_tags: { items: of(numbers), total } }, as);
  await runScenarios(t, target, [
    ofTags('newest first, those that the caller may view', '', [4, 3, 2, 1]),
    ofTags('an admin, who views all', '', [6, 4, 3, 2, 1], 'admin'),
    ofTags('sorted', '(sort:n)', [1, 2, 3, 4]),
    ofTags('sorted by two fields', '(sort:-isHidden,n)', [6, 1, 2, 3, 4], 'admin'),
    ofTags('filtered', '(filter:n > 1 && n < 4,sort:n)', [2, 3]),
    ofTags('filtered by another target of the list', '(filter:tags.name = "b",sort:n)', [2, 3, 4]),
    ofTags('filtered by the length of the list', '(filter:tags:length = 1)', [1]),
    ofTags('a filter that hidden records match', '(filter:n = 6)', []),
    ofTags('limited', '(limit:2)', [4, 3]),
    ofTags('limited after the view rule', '(sort:-n,limit:1)', [4]),
    withTotal('a total of those that the caller may view', 'limit:1,sort:n,total:1', [[1], 4]),
    withTotal('a total for an admin', 'limit:1,sort:-n,total:1', [[6], 5], 'admin'),
    withTotal('a total under a filter', 'filter:n > 2,sort:n,total:1', [[3, 4], 2]),
    shows('records whose relation the caller may view', 'posts_via_kept(sort:n)', { posts_via_kept: of([4, 5]) }),
    shows('every relation for an admin', 'posts_via_kept(sort:n)', { posts_via_kept: of([1, 2, 3, 4, 5, 6]) }, 'admin'),
    shows('the targets behind them, in their order', 'posts_via_tags(filter:n = 2).tags', {
      posts_via_tags: [
        is.containing({
          n: 2,
          expand: { tags: [is.containing({ name: 'b' }), is.containing({ name: 'a' })] },
        }),
      ],
    }),
    {
      name: 'each record of a page',
      request: `GET /api/v1/tags?sort=name&expand=${encoded('posts_via_tags(sort:n,limit:2)')}`,
      expect: {
        status: 200,
        json: is.containing({
          data: [
            is.containing({ name: 'a', expand: { posts_via_tags: of([1, 2]) } }),
            is.containing({ name: 'b', expand: { posts_via_tags: of([2, 3]) } }),
          ],
        }),
      },
      spec,
    },
    {
      name: 'a relation that is closed to the caller',
      request: `GET /api/v1/tags/${a.id}?expand=posts_via_closed`,
      expect: refused.malformedWith({ expand: is.text }),
      spec,
    },
  ]);
});
