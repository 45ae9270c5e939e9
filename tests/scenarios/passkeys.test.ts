import { onEachTopology } from '../harness/stacks/target.ts';
import { adding } from './passkeys/adding.ts';
import { firstProof } from './passkeys/first-proof.ts';
import { prepareMembers } from './passkeys/members.ts';
import { removing } from './passkeys/removing.ts';
import { signingIn } from './passkeys/signing-in.ts';

onEachTopology('users sign in with passkeys [auth §4.6]', async (t, target) => {
  const members = await prepareMembers(target);
  await t.test('a session adds them to its account', (part) => adding(part, target, members));
  await t.test('they open the account', (part) => signingIn(part, target, members));
  await t.test('they are removed', (part) => removing(part, target, members));
  await t.test('the first proof of an address removes them', (part) => firstProof(part, target, members));
});
