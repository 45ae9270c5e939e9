import { onEachTopology } from '../harness/stacks/target.ts';
import { firstProof } from './identity/first-proof.ts';
import { mailLimits } from './identity/mail-limits.ts';
import { preparePeople } from './identity/people.ts';
import { stolenSession } from './identity/stolen-session.ts';
import { undoneChanges } from './identity/undone-changes.ts';
import { unprovedUndos } from './identity/unproved-undos.ts';

onEachTopology('identity changes need a proof and can be undone', async (t, target) => {
  const people = await preparePeople(target);
  await using _ = people.mail;
  await t.test('a stolen session is not enough', (t) => stolenSession(t, target, people));
  await t.test('an address change is undone', (t) => undoneChanges(t, target, people));
  await t.test('a change from an unproved address is undone', (t) => unprovedUndos(t, target, people));
  await t.test("an address's first verification removes other ways to sign in", (t) => firstProof(t, target, people));
  await t.test('mails are limited', (t) => mailLimits(t, target, people));
});
