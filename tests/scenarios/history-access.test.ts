import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { define, relation, text } from './history-rows.ts';

onEachTopology("a record's view rule applies to its history", async (t, target) => {
  const root = await target.admin();
  await define(root, 'circles', [text('open')]);
  const viewRule = 'owner = @request.auth.id || circle.open = "yes"';
  await define(root, 'letters', [text('owner'), relation('circle', 'circles')], { view_rule: viewRule });
  await define(root, 'vault', [text('title')], { view_rule: '' });
  const circle = await root.create('circles', { open: 'yes' });
  const rowsFor = (name: string, path: string, statuses: Readonly<Record<'guest' | 'user' | 'admin', number>>) =>
    (['guest', 'user', 'admin'] as const).map(
      (as): Scenario => ({
        name: `${name}, for ${as === 'admin' ? 'an' : 'a'} ${as}`,
        as,
        request: `GET ${path}/history`,
        expect: statuses[as] === 403 ? refused.forbidden : { status: statuses[as] },
        spec: 'history §3.2',
      }),
    );
  const letter = async (body: object, isDeleted: boolean): Promise<string> => {
    const { id } = await root.create('letters', body);
    if (isDeleted) await root.delete(`/api/v1/letters/${id}`);
    return `/api/v1/letters/${id}`;
  };
  const vault = `/api/v1/vault/${(await root.create('vault', { title: 'x' })).id}`;
  const rows: Scenario[] = [...rowsFor('a rule for admins', vault, { guest: 403, user: 403, admin: 200 })];
  for (const isDeleted of [false, true]) {
    const state = isDeleted ? 'a deleted' : 'a';
    rows.push(
      ...rowsFor(`${state} record of the user`, await letter({ owner: (await target.user()).id }, isDeleted), {
        guest: 403,
        user: 200,
        admin: 200,
      }),
      ...rowsFor(`${state} record of another user`, await letter({ owner: 'x' }, isDeleted), {
        guest: 403,
        user: 403,
        admin: 200,
      }),
      ...rowsFor(`${state} record that a relation opens`, await letter({ circle: circle.id }, isDeleted), {
        guest: 200,
        user: 200,
        admin: 200,
      }),
    );
  }
  await runScenarios(t, target, [
    ...rows,
    {
      name: 'an invalid token',
      request: `GET ${await letter({ owner: 'x' }, true)}/history`,
      headers: { Authorization: 'Bearer expired.or.forged' },
      expect: refused.unauthenticated,
      spec: 'rules §2.4',
    },
    {
      name: 'an unknown record, for a guest',
      request: `GET /api/v1/letters/${unknownId}/history`,
      expect: refused.notFound,
      spec: 'history §3.3',
    },
  ]);
});
