import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient } from '../../harness/clients/client.ts';
import { textAt } from '../../harness/json.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { allNoticed, mailsTo, newAddress, type People, password, settled, statusOf, subjects } from './people.ts';

const spec = 'identity §6.1';
const many = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Mails have limits by account and by recipient. */
export async function mailLimits(t: TestContext, target: Target, people: People): Promise<void> {
  const { admin, mail, post, patch, register, registerProved } = people;

  await t.test(`a stranger gets at most five links from one account [${spec}]`, async () => {
    const ann = await register('ann');
    const stranger = newAddress('stranger');
    const request = (email: string) => post('/request-email-change', { email, old_password: password }, ann.client);
    // Only a few at once: attempts with the old password are counted before they are checked.
    for (const _ of many(3))
      assert.deepEqual((await Promise.all(many(4).map(() => request(stranger)))).map(statusOf), [200, 200, 200, 200]);
    await mail.mailTo(stranger, { count: 5 });
    const others = many(3).map((index) => newAddress(`other${index}`));
    for (const other of others) assert.equal(statusOf(await request(other)), 200);
    await settled(people);
    assert.equal(mailsTo(mail, stranger), 5);
    assert.deepEqual(
      others.map((other) => mailsTo(mail, other)),
      [0, 0, 0],
      'the account has used its five mails',
    );
  });

  await t.test(`an address gets five reset mails, over all collections and spellings [${spec}]`, async () => {
    const bob = await register('bob');
    await admin.post('/api/v1/collections', { name: 'elsewhere', type: 'auth' });
    await admin.post('/api/v1/elsewhere', { email: bob.email.toUpperCase(), password });
    const request = (email: string) => post('/request-password-reset', { email });
    const answers = await Promise.all(
      many(20).map((index) => request(index % 2 ? bob.email : ` ${bob.email.toUpperCase()}`)),
    );
    assert.deepEqual(new Set(answers.map(statusOf)), new Set([200]));
    await mail.mailTo(bob.email, { subject: subjects.reset, count: 5 });
    const guest = await admin.send('POST', '/api/v1/auth/elsewhere/request-password-reset', {
      body: { email: bob.email },
    });
    assert.equal(guest.status, 200);
    await settled(people);
    assert.equal(mailsTo(mail, bob.email, subjects.reset) + mailsTo(mail, bob.email.toUpperCase()), 5);
    const tokens = mail.received.filter(({ email }) => email.subject === subjects.reset).map(({ token }) => token);
    const used = await Promise.all(tokens.map((token) => post('/confirm-password-reset', { token, password })));
    assert.ok(used.map(statusOf).includes(200), 'mails that were not sent did not replace sent ones');
  });

  await t.test(`a user gets five verification mails, the first one included [${spec}]`, async () => {
    const cid = await register('cid');
    for (const _ of many(8)) assert.equal(statusOf(await post('/request-verify', {}, cid.client)), 200);
    await mail.mailTo(cid.email, { count: 5 });
    await settled(people);
    assert.equal(mailsTo(mail, cid.email), 5);
  });

  await t.test('an account that switches between two addresses sends five notices [identity §6.2]', async () => {
    const dot = await register('dot');
    const elsewhere = newAddress('dot');
    for (let round = 0; round < 7; round += 1)
      for (const email of [elsewhere, dot.email]) {
        const answer = await patch(dot, { email, old_password: password });
        assert.equal(answer.status, 200, answer.text);
      }
    await allNoticed(target, people);
    const counts = [dot.email, elsewhere].map((address) => mailsTo(mail, address, subjects.moved));
    assert.deepEqual(counts, [3, 2], 'five of the account');
  });

  await t.test('accounts that take an address in turn send it five notices [identity §6.2]', async () => {
    const email = newAddress('turn');
    for (let round = 0; round < 7; round += 1) {
      const data = await target.guest.post('/api/v1/auth/holders/register', { email, password });
      const client = createClient(target.url, textAt(data, 'token'));
      const body = { email: newAddress('away'), old_password: password };
      await client.patch(`/api/v1/holders/${textAt(data, 'record.id')}`, body);
    }
    await allNoticed(target, people);
    assert.equal(mailsTo(mail, email, subjects.moved), 5);
  });

  await t.test("strangers' changes do not suppress a real change's notice [identity §6.2]", async () => {
    await admin.post('/api/v1/collections', { name: 'decoys', type: 'auth' });
    const victims = [await registerProved('eli'), await register('eli')];
    for (const { email } of victims) {
      const decoys = [await decoyOf(target, 'decoys', email), await decoyOf(target, 'holders', `\u00e9${email}`)];
      for (const change of decoys) for (let round = 0; round < 6; round += 1) await change();
    }
    await allNoticed(target, people);
    for (const victim of victims) {
      const before = mailsTo(mail, victim.email);
      assert.equal(mailsTo(mail, victim.email, subjects.password), 5, 'of the strangers');
      assert.equal(statusOf(await patch(victim, { password: `${password}!`, old_password: password })), 200);
      await allNoticed(target, people);
      assert.equal(mailsTo(mail, victim.email), before + 1);
    }
  });
}

/** Registers a stranger's account with an address. Returns a function that changes its password. */
async function decoyOf(target: Target, collection: string, email: string): Promise<() => Promise<void>> {
  const path = `/api/v1/auth/${collection}`;
  const data = await target.guest.post(`${path}/register`, { email, password });
  let token = textAt(data, 'token');
  return async () => {
    const client = createClient(target.url, token);
    token = textAt(await client.post(`${path}/change-password`, { old_password: password, password }, 200), 'token');
  };
}
