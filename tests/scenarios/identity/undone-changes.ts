import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient } from '../../harness/clients/client.ts';
import { textAt } from '../../harness/json.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { auth, codeOf, newAddress, type People, type Person, password, settled, statusOf, subjects } from './people.ts';

const spec = 'identity §4.4';

/** The link that the old address receives undoes an address change. */
export async function undoneChanges(t: TestContext, target: Target, people: People): Promise<void> {
  const { admin, mail, post, patch, recordOf, registerProved, recordPath, logIn, undo, undoLink, hasEnded } = people;
  const move = async (person: Person, email: string) => {
    const answer = await patch(person, { email, old_password: password });
    assert.equal(answer.status, 200, answer.text);
  };
  const moveByLink = async (person: Person, email: string) => {
    await post('/request-email-change', { email, old_password: password }, person.client);
    const { token } = await mail.mailTo(email, { subject: 'Confirm your new address' });
    assert.equal(statusOf(await post('/confirm-email-change', { token })), 200);
  };
  const stateOf = async (person: Person) => {
    const { email, verified } = await recordOf(person);
    return [email, verified];
  };

  const ways: Readonly<Record<string, (person: Person, email: string) => Promise<unknown>>> = {
    'a PATCH': move,
    'the link to the new address': moveByLink,
    'an admin': (person, email) => admin.patch(recordPath(person), { email }),
  };
  for (const [way, change] of Object.entries(ways))
    await t.test(`a change by ${way} is undone once, with the link in the old mailbox [${spec}]`, async () => {
      const ann = await registerProved('ann');
      await change(ann, newAddress('moved'));
      const token = await undoLink(ann.email);
      assert.match((await mail.mailTo(ann.email, { subject: subjects.moved })).email.text ?? '', /7 days/);
      const answers = await Promise.all([1, 2, 3].map(() => undo(token)));
      assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401]);
      assert.deepEqual(answers.find(({ status }) => status === 200)?.json, { data: { undone: true } });
      assert.deepEqual(await stateOf(ann), [ann.email, true]);
      await hasEnded(ann);
      const { token: reset } = await mail.mailTo(ann.email, { subject: subjects.reset });
      assert.equal(statusOf(await post('/confirm-password-reset', { token: reset, password: `${password}!` })), 200);
      assert.equal(statusOf(await logIn(ann.email, `${password}!`)), 200);
      assert.equal(statusOf(await undo(token)), 401);
      assert.ok((await people.auditOf(ann)).includes('users.email_change_undone'));
    });

  await t.test(`the undo link outlives a sign-out everywhere and a new password [${spec}]`, async () => {
    const bob = await registerProved('bob');
    await move(bob, newAddress('moved'));
    const token = await undoLink(bob.email);
    await bob.client.delete(`${auth}/sessions`);
    await bob.client.post(`${auth}/change-password`, { old_password: password, password: `${password}!` }, 200);
    assert.equal(statusOf(await undo(token)), 200);
    assert.deepEqual(await stateOf(bob), [bob.email, true]);
  });

  await t.test('among several changes, undoing an earlier one ends the later ones', async () => {
    const [first, second] = [await registerProved('first'), await registerProved('second')];
    const links = await Promise.all(
      [first, second].map(async (person) => {
        const [middle, last] = [newAddress('middle'), newAddress('last')];
        await moveByLink(person, middle);
        const [client] = [createClient(target.url, textAt((await logIn(middle)).json, 'data.token'))];
        await moveByLink({ ...person, client }, last);
        return { middle, last, early: await undoLink(person.email), late: await undoLink(middle) };
      }),
    );
    const [one, two] = links;
    assert.ok(one && two);
    assert.equal(statusOf(await undo(one.early)), 200);
    assert.equal(statusOf(await undo(one.late)), 401, 'it ended with the undo of the earlier change');
    assert.deepEqual(await stateOf(first), [first.email, true]);
    assert.equal(statusOf(await undo(two.late)), 200);
    assert.deepEqual(await stateOf(second), [two.middle, true]);
    assert.equal(statusOf(await undo(two.early)), 200, 'the undo of the later change leaves the earlier link valid');
    assert.deepEqual(await stateOf(second), [second.email, true]);
    await settled(people);
    for (const { middle } of links)
      assert.equal((await mail.mailTo(middle, { subject: subjects.moved })).recipients.length, 1);
    assert.equal((await mail.mailTo(one.last, { subject: subjects.moved })).token, undefined);
  });

  await t.test('two parallel undo links for one account end at the earlier address', async () => {
    const cat = await registerProved('cat');
    const middle = newAddress('middle');
    await moveByLink(cat, middle);
    await moveByLink(cat, newAddress('last'));
    const [early, late] = [await undoLink(cat.email), await undoLink(middle)];
    const answers = await Promise.all([undo(late), undo(early), undo(late), undo(early)]);
    assert.ok(answers.every(({ status }) => status === 200 || status === 401));
    assert.deepEqual(await stateOf(cat), [cat.email, true]);
  });

  await t.test('a change back to the old address sends no link to the address in between', async () => {
    const dan = await registerProved('dan');
    const between = newAddress('between');
    await moveByLink(dan, between);
    await undoLink(dan.email);
    await move(dan, dan.email);
    assert.equal((await mail.mailTo(between, { subject: subjects.moved })).token, undefined);
  });

  await t.test('the undo displaces an account that took the address unverified, but not a verified one', async () => {
    const eve = await registerProved('eve');
    await move(eve, newAddress('moved'));
    const token = await undoLink(eve.email);
    const squatter = await target.guest.post(`${auth}/register`, { email: eve.email, password });
    assert.equal(statusOf(await undo(token)), 200);
    assert.deepEqual(await stateOf(eve), [eve.email, true]);
    const displaced = await admin.get(`/api/v1/holders/${textAt(squatter, 'record.id')}`);
    assert.match(textAt(displaced.json, 'data.email'), /^displaced_.*@users\.invalid$/);

    const fox = await registerProved('fox');
    await move(fox, newAddress('moved'));
    const kept = await undoLink(fox.email);
    const other = await target.guest.post(`${auth}/register`, { email: fox.email, password });
    await admin.patch(`/api/v1/holders/${textAt(other, 'record.id')}`, { verified: true });
    const taken = await undo(kept);
    assert.deepEqual([taken.status, codeOf(taken)], [409, 'email_taken']);
    await admin.delete(`/api/v1/holders/${textAt(other, 'record.id')}`);
    assert.equal(statusOf(await undo(kept)), 200, 'the refusal does not use up the link');
  });

  await t.test('the link ends after seven days or with the account, and invalid ones are refused', async () => {
    const gus = await registerProved('gus');
    await move(gus, newAddress('moved'));
    const token = await undoLink(gus.email);
    const age = 'update system.one_time_tokens set expires_at = expires_at - $2 where account_id = $1';
    await inDatabase(target, age, [gus.id, 7 * 86_400 - 60]);
    for (const other of ['', 'x', token.slice(1), 'a\u0000']) assert.equal(statusOf(await undo(other)), 401);
    assert.equal(statusOf(await post('/confirm-email-change', { token })), 401);
    assert.equal(statusOf(await post('/confirm-password-reset', { token, password })), 401);
    await inDatabase(target, age, [gus.id, 61]);
    assert.equal(statusOf(await undo(token)), 401);

    const hal = await registerProved('hal');
    await move(hal, newAddress('moved'));
    const late = await undoLink(hal.email);
    await admin.delete(recordPath(hal));
    assert.equal(statusOf(await undo(late)), 401);
  });

  await t.test('the undo removes links to providers that are newer than the change, and keeps older ones', async () => {
    const ida = await registerProved('ida');
    const insert = `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at)
      select id, $2, $1 || $2, $1, extract(epoch from now())::bigint + $3 from system.collections where name = 'holders'`;
    await inDatabase(target, insert, [ida.id, 'google', -60]);
    await move(ida, newAddress('moved'));
    const token = await undoLink(ida.email);
    await inDatabase(target, insert, [ida.id, 'github', 5]);
    assert.equal(statusOf(await undo(token)), 200);
    assert.match((await mail.mailTo(ida.email, { subject: subjects.removed })).email.text ?? '', /github/);
    const again = createClient(target.url, textAt((await logIn(ida.email)).json, 'data.token'));
    const unlink = (name: string) => again.send('DELETE', `${auth}/oauth2/${name}/unlink`);
    assert.deepEqual([statusOf(await unlink('github')), statusOf(await unlink('google'))], [404, 200]);
  });
}
