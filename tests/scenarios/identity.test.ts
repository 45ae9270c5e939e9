import { onEachTopology } from '../harness/target.ts';
import { firstProof } from './identity/first-proof.ts';
import { mailLimits } from './identity/mail-limits.ts';
import { givenPeople } from './identity/people.ts';
import { stolenSession } from './identity/stolen-session.ts';
import { undoneChanges } from './identity/undone-changes.ts';

onEachTopology('changing who one is', async (t, target) => {
  const people = await givenPeople(target);
  await using _ = people.mail;
  await t.test('a stolen session', (t) => stolenSession(t, target, people));
  await t.test('a change of address is undone', (t) => undoneChanges(t, target, people));
  await t.test('the first proof of an address', (t) => firstProof(t, target, people));
  await t.test('mails are counted', (t) => mailLimits(t, people));
});
