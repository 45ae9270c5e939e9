import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const create = (body: object): Pick<Scenario, 'as' | 'request' | 'body'> => ({
  as: 'admin',
  request: 'POST /api/v1/collections',
  body,
});

onEachTopology('accounts are closed by default', async (t, target) => {
  const own = 'id = @request.auth.id';
  const closed = { list_rule: '', view_rule: own, create_rule: '', update_rule: own, delete_rule: own };
  const rules = { list_rule: null, view_rule: null, create_rule: null, update_rule: null, delete_rule: null };
  const auth = (name: string, more: object = {}) => create({ name, type: 'auth', ...more });
  const answer = (name: string, expected: object, warnings?: readonly string[]) => ({
    data: is.containing({ name, ...expected }),
    ...(warnings && { warnings }),
  });
  await runScenarios(t, target, [
    {
      name: 'default rules, by which users view, update and delete only themselves',
      ...auth('by_themselves'),
      expect: { status: 201, json: answer('by_themselves', { ...closed, guests: [] }) },
      spec: 'collections §3.1',
    },
    {
      name: 'stored rules, null ones too, with a warning about guests',
      ...auth('opened', rules),
      expect: {
        status: 201,
        json: answer('opened', rules, [
          'Guests may list, view, create, update and delete accounts in opened: list_rule, view_rule, create_rule, update_rule and delete_rule are null.',
        ]),
      },
      spec: 'collections §3.1',
    },
    {
      name: 'a change with an expression that admits guests, with a warning',
      as: 'admin',
      request: 'PATCH /api/v1/collections/opened',
      body: { ...closed, list_rule: 'verified = true', create_rule: 'verified = false' },
      expect: {
        status: 200,
        json: answer('opened', { list_rule: 'verified = true', guests: ['list', 'create'] }, [
          'Guests may list accounts in opened: list_rule can hold for callers without an account.',
        ]),
      },
      spec: 'collections §3.2',
    },
    {
      name: 'a change that leaves out rules keeps them',
      as: 'admin',
      request: 'PATCH /api/v1/collections/opened',
      body: { list_rule: '' },
      expect: { status: 200, json: answer('opened', { ...closed, create_rule: 'verified = false' }) },
      spec: 'collections §3.1',
    },
  ]);
});
