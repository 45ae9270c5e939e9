import assert from 'node:assert/strict';
import { at, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

const spec = 'records §7.1';

onEachTopology('a list with restrictLast keeps its last record', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  await admin.define('halls', []);
  await admin.define('keepers', [
    { name: 'hall', type: 'relation', collection: 'halls', options: { cascade: 'cascade' } },
  ]);
  await admin.define('shifts', [
    several('keepers', 'keepers', { cascade: 'restrictLast' }, { required: true }),
    { name: 'hall', type: 'relation', collection: 'halls', options: { cascade: 'cascade' } },
  ]);
  const keeper = async (hall?: string) => (await guest.create('keepers', hall === undefined ? {} : { hall })).id;
  const shift = (keepers: readonly string[], hall?: string) =>
    guest.create('shifts', { keepers, ...(hall !== undefined && { hall }) });
  const [a, b, free] = [await keeper(), await keeper(), await keeper()];
  const both = await shift([a, b]);
  const hall = (await guest.create('halls', {})).id;
  const inHall = [await keeper(hall), await keeper(hall)];
  const ofHall = await shift(inHall, hall);
  const other = (await guest.create('halls', {})).id;
  const inOther = [await keeper(other), await keeper(other)];
  const stays = await shift(inOther);
  const removal = (name: string, path: string, events: string[]): Scenario => ({
    name,
    request: `DELETE /api/v1/${path}`,
    expect: { status: 200, json: { data: null } },
    events,
    spec,
  });
  const blocked = (name: string, path: string, blocker: string): Scenario => ({
    name,
    request: `DELETE /api/v1/${path}`,
    expect: {
      status: 409,
      json: {
        error: is.text,
        code: 'delete_restricted',
        details: { blockers: [{ collection: 'shifts', id: blocker, field: 'keepers' }], total: 1 },
      },
    },
    spec: 'records §7.5',
  });
  await runScenarios(t, target, [
    removal('a record that no list has', `keepers/${free}`, ['keepers.delete']),
    removal('one of two', `keepers/${a}`, ['keepers.delete', 'shifts.update']),
    {
      name: 'the list without it',
      request: `GET /api/v1/shifts/${both.id}`,
      expect: { status: 200, json: { data: is.containing({ keepers: [b] }) } },
      spec,
    },
    blocked('the last one', `keepers/${b}`, both.id),
    blocked('all of a list at once, by a cascade', `halls/${other}`, stays.id),
    removal('all of a list that the same delete removes', `halls/${hall}`, [
      'halls.delete',
      ...inHall.map(() => 'keepers.delete'),
      'shifts.delete',
    ]),
    {
      name: 'the list that is gone with it',
      request: `GET /api/v1/shifts/${ofHall.id}`,
      expect: refused.notFound,
      spec,
    },
  ]);

  await t.test('when both of two are deleted at once, one stays', async () => {
    const pairs = await Promise.all(Array.from({ length: 12 }, async () => [await keeper(), await keeper()] as const));
    const shifts = await Promise.all(pairs.map((pair) => shift(pair)));
    const remove = async (id: string) => (await guest.send('DELETE', `/api/v1/keepers/${id}`)).status;
    const answers = await Promise.all(pairs.map(([one, two]) => Promise.all([remove(one), remove(two)])));
    for (const [index, statuses] of answers.entries()) {
      assert.deepEqual(statuses.toSorted(), [200, 409]);
      const kept = pairs[index]?.[statuses.indexOf(409)];
      const { json } = await guest.get(`/api/v1/shifts/${shifts[index]?.id}`);
      assert.deepEqual(at(json, 'data.keepers'), [kept]);
    }
  });

  await t.test('only a list has it, and a definition with setNull says so', async () => {
    const single = { name: 'keeper', type: 'relation', collection: 'keepers', options: { cascade: 'restrictLast' } };
    const answer = await admin.send('POST', '/api/v1/collections', {
      body: { name: 'single_shifts', type: 'base', fields: [single] },
    });
    assert.equal(answer.status, 422, answer.text);
    assert.match(JSON.stringify(objectAt(answer.json, 'details')), /must not be restrictLast without multiple/);
  });
});
