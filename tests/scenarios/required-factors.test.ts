import { onEachTopology } from '../harness/stacks/target.ts';
import { endings } from './required-factors/endings.ts';
import { prepareOfficers } from './required-factors/officers.ts';
import { renames } from './required-factors/renames.ts';
import { settingUp } from './required-factors/setting-up.ts';
import { tokens } from './required-factors/tokens.ts';

onEachTopology('accounts for which a rule holds set up a second factor [auth §6.10]', async (t, target) => {
  const officers = await prepareOfficers(target);
  await t.test('a sign-in sets one up', (part) => settingUp(part, officers));
  await t.test('its token opens nothing else', (part) => tokens(part, officers));
  await t.test('it ends', (part) => endings(part, target, officers));
  await t.test('the rule follows renames', (part) => renames(part, officers));
});
