import { at } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

const spec = 'fields §5.3';

/** Field rules, and whether their result depends only on the record's version. */
const rules: readonly (readonly [rule: string, isFixed: boolean])[] = [
  ['n > 1', true],
  ['not (n > 1) || title ~ "a" && isOpen = true', true],
  ['title in ("a", "b")', true],
  ['title:lower = "a"', true],
  ['n = null', true],
  ['n < rank', true],
  ['meta.shown = true', true],
  ['tags:length > 0', true],
  ['friend != null', true],
  ['distance(spot, 1, 2) < 3', true],
  ['created > 5', true],
  ['friend.n > 1', false],
  ['tags.n > 1', false],
  ['none(tags.n > 1)', false],
  ['count(tags) > 0', false],
  ['facts_via_friend.n > 1', false],
  ['exists(facts, n > 1)', false],
  ['n > 1 && not exists(facts, friend = record.id)', false],
  ['created > @now-1d', false],
  ['n in (1, @now)', false],
  ['@request.method = "GET"', false],
  ['@request.headers.x_key = title', false],
  ['title = @request.query.key', false],
  ['n > 1 || @request.auth.type = "guest"', false],
];

onEachTopology('a get is 304 if its version fixes what it shows', async (t, target) => {
  const admin = await target.admin();
  const text = (name: string) => ({ name, type: 'text' });
  const own = [
    text('title'),
    { name: 'n', type: 'number' },
    { name: 'rank', type: 'number' },
    { name: 'isOpen', type: 'bool' },
    { name: 'meta', type: 'json' },
    { name: 'spot', type: 'geoPoint' },
    { name: 'friend', type: 'relation', collection: 'facts' },
    several('tags', 'facts'),
  ];
  const ruled = rules.map(([view_rule], index) => ({ ...text(`f${index}`), view_rule }));
  const closed = { ...text('closed'), view_rule: '' };
  await admin.post('/api/v1/collections', { name: 'facts', type: 'base', fields: [...own, ...ruled, closed] });
  const fact = await admin.create('facts', { title: 'a', n: 2 });
  const path = `/api/v1/facts/${fact.id}`;
  const etag = String((await target.guest.get(path)).headers.etag);
  const get = (name: string, query: string, status: 200 | 304, more: Partial<Scenario> = {}): Scenario => ({
    name,
    request: `GET ${path}${query}`,
    headers: { 'If-None-Match': etag },
    expect: { status, headers: { etag } },
    spec,
    ...more,
  });
  await runScenarios(t, target, [
    ...rules.map(([rule, isFixed], index) => get(rule, `?fields=title,f${index}`, isFixed ? 304 : 200)),
    get('fields without a rule', '?fields=title', 304),
    get('a field that is closed', '?fields=title,closed', 304),
    get('all fields', '', 200),
    get('all fields but those', `?fields=${own.map(({ name }) => name)}`, 304),
    get('fields with an expansion', '?fields=title&expand=friend', 200),
    get('all fields for an admin, whom no rule decides about', '', 304, { as: 'admin' }),
    get('any version', '?fields=f0', 304, { headers: { 'If-None-Match': '*' } }),
    {
      name: 'a change of what the rule reads',
      as: 'admin',
      request: `PATCH ${path}`,
      body: { n: 0 },
      expect: { status: 200 },
      events: ['facts.update'],
      spec,
    },
    get('the version before that change', '?fields=f0', 200, {
      expect: { status: 200, json: { data: { id: at(fact, 'id') } }, headers: { etag: is.etag } },
    }),
  ]);
});
