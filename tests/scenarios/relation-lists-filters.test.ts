import assert from 'node:assert/strict';
import { listAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { userCollection } from '../harness/stacks/stack.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

const path = '/api/v1/collections';
const text = (name: string) => ({ name, type: 'text' });

onEachTopology('filters and rules reach relation lists', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  await admin.define('tags', [text('name'), { name: 'weight', type: 'number' }], { view_rule: 'name != "hidden"' });
  await admin.define('secrets', [text('name')], { view_rule: '' });
  await admin.define('posts', [text('title'), several('tags', 'tags'), several('secrets', 'secrets')], {
    history_enabled: true,
  });
  const tag = (name: string, weight: number) => admin.create('tags', { name, weight });
  const [red, blue, hidden] = [await tag('red', 1), await tag('blue', 5), await tag('hidden', 9)];
  const secret = await admin.create('secrets', { name: 's' });
  const post = (title: string, tags: readonly { id: string }[], more: object = {}) =>
    admin.create('posts', { title, tags: tags.map(({ id }) => id), ...more });
  await post('both', [blue, red]);
  await post('red', [red], { secrets: [secret.id] });
  await post('dark', [hidden, red]);
  await post('none', []);

  const titles = async (filter: string, as: Caller = 'guest', collection = 'posts') => {
    const client = as === 'admin' ? admin : guest;
    const field = collection === 'posts' ? 'title' : 'name';
    const query = `filter=${encodeURIComponent(filter)}&sort=${field}`;
    const { status, json, text: body } = await client.get(`/api/v1/${collection}?${query}`);
    assert.equal(status, 200, body);
    return listAt(json, 'data')
      .map((record) => textAt(record, field))
      .join(' ');
  };
  const rows: readonly [filter: string, found: string, asAdmin?: string][] = [
    [`tags = "${red.id}"`, 'both dark red'],
    [`"${red.id}" = tags`, 'both dark red'],
    [`tags != "${red.id}"`, 'none'],
    [`tags = "${hidden.id}"`, 'dark'],
    [`tags ~ "${blue.id.slice(-8)}"`, 'both'],
    [`tags !~ "${blue.id.slice(-8)}"`, 'dark none red'],
    ['tags = null', 'none'],
    ['tags != null', 'both dark red'],
    ['tags:length > 1', 'both dark'],
    [`"${blue.id}" in tags`, 'both'],
    [`tags in ("${blue.id}", "${hidden.id}")`, 'both dark'],
    ['tags.name = "red"', 'both dark red'],
    ['tags.name != "red"', 'none'],
    ['tags.name ~ "l"', 'both'],
    ['tags.weight > 4', 'both', 'both dark'],
    ['tags.weight > 4 || title = "none"', 'both none', 'both dark none'],
    ['all(tags.weight < 5)', 'dark none red', 'none red'],
    ['none(tags.weight > 4)', 'dark none red', 'none red'],
    ['not (tags.name = "blue")', 'dark none red'],
    ['count(tags) = 1', 'dark red', 'red'],
    [`tags.id = "${hidden.id}"`, '', 'dark'],
    ['exists(tags, id in record.tags && weight > 4)', 'both', 'both dark'],
  ];
  for (const [filter, found, asAdmin = found] of rows)
    await t.test(`${filter} finds ${found} [filters §6.4, §7]`, async () => {
      assert.equal(await titles(filter), found);
      assert.equal(await titles(filter, 'admin'), asAdmin);
    });
  const tagRows: readonly [filter: string, found: string][] = [
    ['posts_via_tags.title = "both"', 'blue red'],
    ['posts_via_tags.title != "red"', 'blue'],
    ['count(posts_via_tags) = 3', 'red'],
    ['posts_via_tags.tags.name = "blue"', 'blue red'],
  ];
  for (const [filter, found] of tagRows)
    await t.test(`${filter} finds ${found} [filters §7.4]`, async () =>
      assert.equal(
        (await titles(filter, 'guest', 'tags'))
          .split(' ')
          .filter((name) => name !== 'hidden')
          .join(' '),
        found,
      ),
    );

  const malformed = (filter: string): Scenario => ({
    name: `the filter ${filter}`,
    request: `GET /api/v1/posts?filter=${encodeURIComponent(filter)}`,
    expect: refused.malformedWith({ filter: is.text }),
    spec: 'filters §7.3',
  });
  const [user] = [await target.user()];
  assert.ok(user);
  await admin.define('teams', [text('name'), several('members', userCollection), several('tags', 'tags')], {
    view_rule: 'members = @request.auth.id',
    list_rule: 'members = @request.auth.id',
    create_rule: 'members = @request.auth.id && tags.weight < 9',
    update_rule: 'members = @request.auth.id && (@request.body.tags:changed = false || tags.name = "red")',
    history_enabled: true,
  });
  const me = listAt((await admin.get(`/api/v1/${userCollection}`)).json, 'data')[0];
  const id = textAt(me, 'id');
  const mine = await admin.create('teams', { name: 'mine', members: [id], tags: [red.id] });
  const theirs = await admin.create('teams', { name: 'theirs', members: [], tags: [red.id] });
  const ended = await admin.create('teams', { name: 'ended', members: [id] });
  await admin.delete(`/api/v1/teams/${ended.id}`);
  const byRule = (
    name: string,
    request: string,
    expect: Scenario['expect'],
    more: Partial<Scenario> = {},
  ): Scenario => ({
    name,
    as: 'user',
    request,
    expect,
    spec: 'rules §2.1',
    ...more,
  });
  const ok = { status: 200 };
  await runScenarios(t, target, [
    malformed('secrets.name = "s"'),
    malformed('secrets.nope = "s"'),
    malformed('tags > "a"'),
    byRule('a record whose list has the caller', `GET /api/v1/teams/${mine.id}`, ok),
    byRule('a record whose list does not', `GET /api/v1/teams/${theirs.id}`, refused.forbidden),
    byRule('a guest', `GET /api/v1/teams/${mine.id}`, refused.forbidden, { as: 'guest' }),
    byRule('a list of them', 'GET /api/v1/teams?fields=name', {
      status: 200,
      json: is.containing({ data: [is.containing({ name: 'mine' })] }),
    }),
    byRule(
      'a create with the caller in the list',
      'POST /api/v1/teams',
      { status: 201 },
      {
        body: { name: 'new', members: [id], tags: [blue.id] },
        events: ['teams.create'],
      },
    ),
    byRule('a create without', 'POST /api/v1/teams', refused.forbidden, { body: { name: 'new', tags: [blue.id] } }),
    byRule('a create with a list that the rule follows', 'POST /api/v1/teams', refused.forbidden, {
      body: { name: 'new', members: [id], tags: [hidden.id] },
    }),
    byRule('an update of the list', `PATCH /api/v1/teams/${mine.id}`, ok, {
      body: { tags: [blue.id] },
      events: ['teams.update'],
    }),
    byRule('an update that the stored list refuses', `PATCH /api/v1/teams/${mine.id}`, refused.forbidden, {
      body: { tags: [red.id] },
    }),
    byRule('an update without the list', `PATCH /api/v1/teams/${mine.id}`, ok, {
      body: { name: 'still mine' },
      events: ['teams.update'],
    }),
    byRule('the history of a deleted record, by its last list', `GET /api/v1/teams/${ended.id}/history`, ok),
    byRule('new names', `PATCH ${path}/tags/fields/name`, ok, { as: 'admin', body: { name: 'label' } }),
    byRule('new names', `PATCH ${path}/teams/fields/members`, ok, { as: 'admin', body: { name: 'people' } }),
    byRule(
      'rules that follow them',
      `GET ${path}/teams`,
      {
        status: 200,
        json: {
          data: is.containing({
            view_rule: 'people = @request.auth.id',
            update_rule: 'people = @request.auth.id && (@request.body.tags:changed = false || tags.label = "red")',
          }),
        },
      },
      { as: 'admin' },
    ),
    byRule(
      'a drop of a list that rules name',
      `DELETE ${path}/teams/fields/people`,
      refused.invalid('list_rule', 'view_rule', 'create_rule', 'update_rule'),
      { as: 'admin' },
    ),
  ]);
});
