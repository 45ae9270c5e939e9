import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { listAt } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { several } from '../tagged-posts.ts';

const spec = 'extensions §2.4';
const text = (name: string) => ({ name, type: 'text' });
const relation = (name: string, collection: string, cascade: string, required = false) => ({
  name,
  type: 'relation',
  collection,
  required,
  options: { cascade },
});

/** Deletes trees: their branches and leaves are deleted too, and nests lose the relation. */
export async function cascadeHooks(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  await admin.define('grove_log', [text('entry')]);
  await admin.define('grove_trees', [text('name'), text('other')]);
  await admin.define('grove_branches', [
    text('name'),
    relation('tree', 'grove_trees', 'cascade'),
    relation('holds', 'grove_branches', 'cascade'),
  ]);
  await admin.define('grove_leaves', [text('name'), relation('branch', 'grove_branches', 'cascade')]);
  await admin.define('grove_nests', [
    text('name'),
    text('note'),
    relation('tree', 'grove_trees', 'setNull', true),
    relation('spare', 'grove_trees', 'setNull'),
  ]);
  await admin.define('grove_flocks', [
    text('name'),
    text('note'),
    several('trees', 'grove_trees', {}, { required: true }),
  ]);
  await admin.define('grove_crews', [text('note'), several('trees', 'grove_trees', { cascade: 'restrictLast' })]);

  /** Creates a tree. Returns its id and path. */
  const plant = async (name: string, body: object = {}) => {
    const { id } = await admin.create('grove_trees', { name, ...body });
    return { id, path: `/api/v1/grove_trees/${id}` };
  };
  const branchOf = async (tree: { id: string }, name: string) =>
    (await admin.create('grove_branches', { name, tree: tree.id })).id;
  const leafOf = (branch: string, name: string) => admin.create('grove_leaves', { name, branch });
  const all = async (collection: string, field: string) =>
    listAt((await admin.get(`/api/v1/${collection}?perPage=1000`)).json, 'data')
      .map((record) => record[field])
      .sort();
  const removal = (
    name: string,
    path: string,
    expect: Scenario['expect'],
    events: readonly string[] = [],
  ): Scenario => ({ name, request: `DELETE ${path}`, expect, events, spec });
  const gone = { status: 200, json: { data: null } };
  const times = (count: number, label: string) => Array.from({ length: count }, () => label);

  const deep = await plant('deep');
  const twig = await branchOf(deep, 'twig');
  await leafOf(twig, 'green');
  await leafOf(twig, 'brown');
  const stuck = await plant('stuck');
  await leafOf(await branchOf(stuck, 'bough'), 'stuck');
  const growing = await plant('growing');
  await leafOf(await branchOf(growing, 'grows'), 'late');
  const other = await plant('other');
  const moving = await plant('moves a branch', { other: other.id });
  const moved = await branchOf(moving, 'moved');
  await branchOf(moving, 'left');
  const dropping = await plant('dropping');
  const bare = await branchOf(dropping, 'drops leaves');
  await leafOf(bare, 'dropped');
  const felling = await plant('fells');
  const felled = await branchOf(felling, 'felled');
  await leafOf(felled, 'fallen');
  const circle = await plant('circle');
  const first = await branchOf(circle, 'first');
  const second = (await admin.create('grove_branches', { name: 'second', holds: first })).id;
  await admin.patch(`/api/v1/grove_branches/${first}`, { holds: second });

  await runScenarios(t, target, [
    removal('hooks of the cascade set, level by level, with those for all collections', deep.path, gone, [
      'grove_branches.delete',
      ...times(2, 'grove_leaves.delete'),
      ...times(4, 'grove_log.create'),
      'grove_trees.delete',
    ]),
    removal('a hook deep in the cascade that refuses the whole delete', stuck.path, refused.conflict),
    removal('a record that a hook adds to the cascade set', growing.path, gone, [
      ...times(2, 'grove_branches.delete'),
      'grove_branches.create',
      'grove_leaves.delete',
      ...times(4, 'grove_log.create'),
      'grove_trees.delete',
    ]),
    removal('a record that a hook moves out of the cascade set', moving.path, gone, [
      'grove_branches.update',
      'grove_branches.delete',
      ...times(2, 'grove_log.create'),
      'grove_trees.delete',
    ]),
    removal('a record of the cascade set that a hook deletes', dropping.path, gone, [
      'grove_branches.delete',
      'grove_leaves.delete',
      ...times(3, 'grove_log.create'),
      'grove_trees.delete',
    ]),
    removal('the cascade of a delete by a hook', felling.path, gone, [
      'grove_branches.delete',
      'grove_leaves.delete',
      ...times(3, 'grove_log.create'),
      'grove_trees.delete',
    ]),
    removal('a circle of relations', `/api/v1/grove_branches/${second}`, gone, [
      ...times(2, 'grove_branches.delete'),
      ...times(2, 'grove_log.create'),
    ]),
  ]);
  await t.test("each of a record's hooks runs once, and a refused delete's hooks leave nothing", async () => {
    const of = (...entries: readonly string[]) => entries.map((entry) => `branch ${entry} by guest`);
    assert.deepEqual(
      await all('grove_log', 'entry'),
      [
        ...of('twig', 'grows', 'grown', 'left', 'drops leaves', 'first', 'second'),
        'branch felled by admin',
        ...['deep', 'growing', 'moves a branch', 'dropping', 'fells'].map((name) => `grove_trees ${name}`),
        ...['green', 'brown', 'late', 'dropped', 'fallen'].map((name) => `grove_leaves ${name}`),
      ].sort(),
    );
    assert.deepEqual(await all('grove_branches', 'name'), ['bough', 'moved']);
    assert.equal(
      listAt((await admin.get(`/api/v1/grove_branches?filter=id="${moved}"`)).json, 'data')[0]?.tree,
      other.id,
    );
    assert.deepEqual(await all('grove_leaves', 'name'), ['stuck']);
  });

  const nest = async (name: string, tree: { id: string }, spare?: { id: string }) =>
    (await admin.create('grove_nests', { name, tree: tree.id, spare: spare?.id ?? null })).id;
  const shownNest = async (id: string) => {
    const [shown] = listAt((await admin.get(`/api/v1/grove_nests?filter=id="${id}"`)).json, 'data');
    return shown && [shown.tree, shown.spare, shown.note];
  };
  const [pine, oak, elm, ash, fir] = [
    await plant('pine'),
    await plant('oak'),
    await plant('elm'),
    await plant('ash'),
    await plant('fir'),
  ];
  const both = await nest('both', pine, pine);
  const one = await nest('one', pine, oak);
  const moves = await nest('moves', elm, oak);
  const stays = await nest('stays', ash);
  const clings = await nest('clings', fir);
  const cleared = (name: string, path: string, count: number) =>
    removal(name, path, gone, [...times(count, 'grove_nests.update'), 'grove_log.create', 'grove_trees.delete']);
  await runScenarios(t, target, [
    cleared('cleared relations in one update of each record, which hooks change', pine.path, 2),
    cleared('a hook that sets them to a record that stays', elm.path, 1),
    removal('a hook that refuses to clear them', ash.path, { status: 423 }),
    removal('a hook that sets them to a record of the cascade set', fir.path, {
      status: 409,
      json: is.containing({
        code: 'delete_restricted',
        details: { blockers: [{ collection: 'grove_nests', id: clings, field: 'tree' }], total: 1 },
      }),
    }),
  ]);
  await t.test('cleared relations are stored as the hooks set them', async () => {
    assert.deepEqual(await shownNest(both), [null, null, 'lost spare and tree']);
    assert.deepEqual(await shownNest(one), [null, oak.id, 'lost tree']);
    assert.deepEqual(await shownNest(moves), [oak.id, oak.id, 'lost tree']);
    assert.deepEqual(await shownNest(stays), [ash.id, null, null]);
    assert.deepEqual(await shownNest(clings), [fir.id, null, null]);
  });

  const [yew, box, larch] = [await plant('yew'), await plant('box'), await plant('larch')];
  const flock = async (name: string, trees: readonly { id: string }[]) =>
    (await admin.create('grove_flocks', { name, trees: trees.map(({ id }) => id) })).id;
  const wide = await flock('wide', [box, yew, larch]);
  const narrow = await flock('narrow', [yew]);
  const clinging = await flock('clings', [larch]);
  const shownFlock = async (id: string) => {
    const [shown] = listAt((await admin.get(`/api/v1/grove_flocks?filter=id="${id}"`)).json, 'data');
    return shown && [shown.trees, shown.note];
  };
  await runScenarios(t, target, [
    removal('lists that lose a record, in one update of each', yew.path, gone, [
      ...times(2, 'grove_flocks.update'),
      'grove_log.create',
      'grove_trees.delete',
    ]),
    removal('a hook that puts the record back into a list', larch.path, {
      status: 409,
      json: is.containing({
        code: 'delete_restricted',
        details: { blockers: [{ collection: 'grove_flocks', id: clinging, field: 'trees' }], total: 1 },
      }),
    }),
  ]);
  await t.test('lists are stored as the hooks set them', async () => {
    assert.deepEqual(await shownFlock(wide), [[box.id, larch.id], 'keeps 2 of 3']);
    assert.deepEqual(await shownFlock(narrow), [[], 'keeps 0 of 1']);
    assert.deepEqual(await shownFlock(clinging), [[larch.id], null]);
  });

  const [ivy, yarrow] = [await plant('ivy'), await plant('yarrow')];
  const crew = (await admin.create('grove_crews', { trees: [ivy.id, yarrow.id] })).id;
  await runScenarios(t, target, [
    removal('a list that keeps another record', ivy.path, gone, [
      'grove_crews.update',
      'grove_log.create',
      'grove_trees.delete',
    ]),
    removal('the last record in a list with restrictLast', yarrow.path, {
      status: 409,
      json: is.containing({
        code: 'delete_restricted',
        details: { blockers: [{ collection: 'grove_crews', id: crew, field: 'trees' }], total: 1 },
      }),
    }),
  ]);
  await t.test('the hook saw the first of them', async () => {
    const [shown] = listAt((await admin.get(`/api/v1/grove_crews?filter=id="${crew}"`)).json, 'data');
    assert.deepEqual([shown?.trees, shown?.note], [[yarrow.id], 'lost one']);
  });

  for (const collection of [
    'grove_crews',
    'grove_flocks',
    'grove_nests',
    'grove_leaves',
    'grove_branches',
    'grove_trees',
    'grove_log',
  ])
    await admin.delete(`/api/v1/collections/${collection}`);
}
