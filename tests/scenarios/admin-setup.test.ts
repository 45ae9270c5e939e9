import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { firstAdmin } from '../harness/stacks/stack.ts';
import { onEachTopology, onNewStacks } from '../harness/stacks/target.ts';

onNewStacks('The stack must not have an admin yet.');

const path = '/api/v1/admin';
const session = { data: { token: is.text, admin: { id: is.uuid, email: firstAdmin.email } } };

onEachTopology('the first admin is set up once', async (t, { setupToken, ...target }) => {
  const setup = (body: object): Pick<Scenario, 'request' | 'body'> => ({ request: `POST ${path}/setup`, body });
  await runScenarios(t, { setupToken, ...target }, [
    {
      name: 'a wrong set-up token',
      ...setup({ ...firstAdmin, token: 'guessed' }),
      expect: refused.invalidCredentials,
      spec: 'admins §1.1',
    },
    {
      name: 'a missing member',
      ...setup({ token: setupToken }),
      expect: refused.invalid('email', 'password'),
      spec: 'http §4.3',
    },
    {
      name: 'a password that the policy refuses',
      ...setup({ ...firstAdmin, token: setupToken, password: 'short' }),
      expect: refused.invalid('password'),
      spec: 'auth §2.1',
    },
    {
      name: 'an invalid address',
      ...setup({ ...firstAdmin, token: setupToken, email: 'ada' }),
      expect: refused.invalid('email'),
      spec: 'http §4.3',
    },
    {
      name: 'the printed token',
      ...setup({ ...firstAdmin, token: setupToken }),
      expect: { status: 201, json: session },
      spec: 'admins §1.1',
    },
    {
      name: 'the same token again',
      ...setup({ ...firstAdmin, token: setupToken, email: 'eve@example.com' }),
      expect: refused.conflict,
      spec: 'admins §1.1',
    },
    {
      name: 'a wrong token gets the same answer once there is an admin',
      ...setup({ ...firstAdmin, token: 'guessed' }),
      expect: refused.conflict,
      spec: 'admins §1.1',
    },
  ]);
});
