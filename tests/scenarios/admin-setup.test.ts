import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { firstAdmin } from '../harness/stack.ts';
import { onEachTopology, onNewStacks } from '../harness/target.ts';

onNewStacks('Nobody may have been here before the first admin.');

const path = '/api/v1/admin';
const session = { data: { token: is.text, admin: { id: is.uuid, email: firstAdmin.email } } };

onEachTopology('the first admin is set up once', async (t, { setupToken, ...target }) => {
  const setup = (body: object): Pick<Scenario, 'request' | 'body'> => ({ request: `POST ${path}/setup`, body });
  await runScenarios(t, { setupToken, ...target }, [
    {
      name: 'a wrong set-up token is refused',
      ...setup({ ...firstAdmin, token: 'guessed' }),
      expect: refused.invalidCredentials,
      spec: 'contract §8',
    },
    {
      name: 'what is missing is named',
      ...setup({ token: setupToken }),
      expect: refused.invalid('email', 'password'),
      spec: 'contract §4',
    },
    {
      name: 'a password below the policy is refused',
      ...setup({ ...firstAdmin, token: setupToken, password: 'short' }),
      expect: refused.invalid('password'),
      spec: 'interface §5',
    },
    {
      name: 'an address that is none is refused',
      ...setup({ ...firstAdmin, token: setupToken, email: 'ada' }),
      expect: refused.invalid('email'),
      spec: 'contract §4',
    },
    {
      name: 'the printed token sets up the first admin',
      ...setup({ ...firstAdmin, token: setupToken }),
      expect: { status: 201, json: session },
      spec: 'contract §8',
    },
    {
      name: 'the token works once',
      ...setup({ ...firstAdmin, token: setupToken, email: 'eve@example.com' }),
      expect: refused.conflict,
      spec: 'contract §8',
    },
    {
      name: 'once there is an admin, a wrong token tells no more than a right one',
      ...setup({ ...firstAdmin, token: 'guessed' }),
      expect: refused.conflict,
      spec: 'contract §8',
    },
  ]);
});
