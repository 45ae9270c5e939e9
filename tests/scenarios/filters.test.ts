import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('lists are filtered', async (t, target) => {
  const admin = await target.admin();
  const text = (name: string) => ({ name, type: 'text' });
  await admin.post('/api/v1/collections', {
    name: 'teams',
    type: 'base',
    fields: [text('name')],
    view_rule: 'name != "hidden"',
  });
  await admin.post('/api/v1/collections', {
    name: 'people',
    type: 'base',
    fields: [text('name'), { name: 'team', type: 'relation', collection: 'teams' }],
    create_rule: '@request.auth.id != "" || name = "guest"',
  });
  const core = await admin.create('teams', { name: 'core' });
  const hidden = await admin.create('teams', { name: 'hidden' });
  await admin.create('people', { name: 'Ada', team: core.id });
  await admin.create('people', { name: 'Zoë', team: hidden.id });
  const finds = (as: Caller, filter: string, ...names: string[]): Scenario => ({
    name: `${as}: ${filter}`,
    as,
    request: `GET /api/v1/people?sort=name&filter=${encodeURIComponent(filter)}`,
    expect: {
      status: 200,
      json: is.containing({ totalItems: names.length, data: names.map((name) => is.containing({ name })) }),
    },
    spec: 'filters §5',
  });
  const malformed = (filter: string): Scenario => ({
    name: filter,
    request: `GET /api/v1/people?filter=${encodeURIComponent(filter)}`,
    expect: { status: 400, json: is.containing({ error: is.text, code: is.code }) },
    spec: 'filters §1.3',
  });
  await runScenarios(t, target, [
    finds('guest', 'name ~ "ZOË"', 'Zoë'),
    finds('guest', 'team.name = "core"', 'Ada'),
    finds('guest', 'team.name = "hidden"'),
    finds('admin', 'team.name = "hidden"', 'Zoë'),
    malformed('nope = 1'),
    malformed('name = '),
    malformed('@request.auth.id = "x"'),
    {
      name: 'a create that the rule refuses',
      request: 'POST /api/v1/people',
      body: { name: 'x' },
      expect: refused.forbidden,
      spec: 'rules §2.3',
    },
    {
      name: 'a create that the rule admits',
      request: 'POST /api/v1/people',
      body: { name: 'guest' },
      expect: { status: 201 },
      events: ['people.create'],
      spec: 'rules §2.3',
    },
    {
      name: 'a rule that cannot be evaluated',
      as: 'admin',
      request: 'PATCH /api/v1/collections/people',
      body: { view_rule: 'nope = 1' },
      expect: refused.invalid('view_rule'),
      spec: 'rules §6.1',
    },
  ]);
});
