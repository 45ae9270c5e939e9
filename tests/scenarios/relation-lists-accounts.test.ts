import assert from 'node:assert/strict';
import { at, type JsonObject, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { several } from './tagged-posts.ts';

const password = 'a long and winding password';
const spec = 'fields §3.9';

onEachTopology('accounts hold relation lists', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'teams', type: 'base', fields: [{ name: 'name', type: 'text' }] });
  await admin.post('/api/v1/collections', {
    name: 'crew',
    type: 'auth',
    fields: [several('teams', 'teams', { max: 2 }), several('friends', 'crew')],
    create_rule: 'teams.name != "closed"',
    view_rule: null,
  });
  await admin.post('/api/v1/collections', {
    name: 'tasks',
    type: 'base',
    fields: [several('owners', 'crew', { default: '@request.auth.id' })],
  });
  const team = async (name: string) => (await admin.create('teams', { name })).id;
  const [open, other, closed] = [await team('open'), await team('other'), await team('closed')];
  const member = async (email: string, more: object = {}) =>
    (await admin.create('crew', { email, password, teams: [open, other], ...more })).id;
  const ada = await member('ada@example.com');
  const bob = await member('bob@example.com', { friends: [ada] });
  const register = (name: string, email: string, body: object, expect: Scenario['expect']): Scenario => ({
    name,
    spec,
    request: 'POST /api/v1/auth/crew/register',
    body: { email, password, ...body },
    expect,
    events: expect.status === 201 ? ['crew.create'] : [],
  });
  const made = (teams: readonly string[]) => ({
    status: 201,
    json: { data: is.containing({ record: is.containing({ teams, friends: [] }) }) },
  });
  const shown = (id: string, data: JsonObject): Scenario => ({
    name: `the account with ${Object.keys(data).join()}`,
    spec,
    request: `GET /api/v1/crew/${id}`,
    expect: { status: 200, json: { data: is.containing(data) } },
  });
  await runScenarios(t, target, [
    register('a registration with a list', 'a@example.com', { teams: [other, open] }, made([other, open])),
    register('a registration without', 'b@example.com', {}, made([])),
    register('an unknown record', 'c@example.com', { teams: [unknownId] }, refused.invalid('teams')),
    register('too many', 'c@example.com', { teams: [open, other, closed] }, refused.invalid('teams')),
    register('a list that the create rule follows', 'c@example.com', { teams: [closed] }, refused.forbidden),
    {
      name: 'a list of the account itself',
      spec,
      as: 'admin',
      request: `PATCH /api/v1/crew/${ada}`,
      body: { friends: [ada, bob] },
      expect: { status: 200, json: { data: is.containing({ friends: [ada, bob] }) } },
      events: ['crew.update'],
    },
    {
      name: 'a default that is not an account of the target',
      spec: 'fields §2.8',
      as: 'admin',
      request: 'POST /api/v1/tasks',
      body: {},
      expect: { status: 201, json: { data: is.containing({ owners: [] }) } },
      events: ['tasks.create'],
    },
    {
      name: 'an account that lists have',
      spec: 'records §7.1',
      as: 'admin',
      request: `DELETE /api/v1/crew/${ada}`,
      expect: { status: 200 },
      events: ['crew.delete', 'crew.update'],
    },
    shown(bob, { friends: [], teams: [open, other] }),
    {
      name: 'a record that lists of accounts have',
      spec: 'records §7.1',
      as: 'admin',
      request: `DELETE /api/v1/teams/${open}`,
      expect: { status: 200 },
      events: ['teams.delete', 'crew.update', 'crew.update'],
    },
    shown(bob, { teams: [other] }),
  ]);
  const token = await guest.send('POST', '/api/v1/auth/crew/login', { body: { email: 'bob@example.com', password } });
  await t.test('a default that is the caller', async () => {
    const { json } = await guest.send('POST', '/api/v1/tasks', {
      body: {},
      headers: { Authorization: `Bearer ${textAt(token.json, 'data.token')}` },
    });
    assert.deepEqual(at(json, 'data.owners'), [bob]);
  });
});
