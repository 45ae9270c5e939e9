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
      spec: 'admins §1.1',
    },
    {
      name: 'a missing member is named',
      ...setup({ token: setupToken }),
      expect: refused.invalid('email', 'password'),
      spec: 'http §4.3',
    },
    {
      name: 'a password below the policy is refused',
      ...setup({ ...firstAdmin, token: setupToken, password: 'short' }),
      expect: refused.invalid('password'),
      spec: 'auth §2.1',
    },
    {
      name: 'an invalid address is refused',
      ...setup({ ...firstAdmin, token: setupToken, email: 'ada' }),
      expect: refused.invalid('email'),
      spec: 'http §4.3',
    },
    {
      name: 'the printed token sets up the first admin',
      ...setup({ ...firstAdmin, token: setupToken }),
      expect: { status: 201, json: session },
      spec: 'admins §1.1',
    },
    {
      name: 'the token works once',
      ...setup({ ...firstAdmin, token: setupToken, email: 'eve@example.com' }),
      expect: refused.conflict,
      spec: 'admins §1.1',
    },
    {
      name: 'once there is an admin, a wrong token gets the same answer as a right one',
      ...setup({ ...firstAdmin, token: 'guessed' }),
      expect: refused.conflict,
      spec: 'admins §1.1',
    },
  ]);
});
