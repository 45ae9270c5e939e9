import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import {
  allNoticed,
  codeOf,
  mailsTo,
  newAddress,
  type People,
  type Person,
  password,
  statusOf,
  subjects,
} from './people.ts';

const spec = 'identity §4.4, §4.5';

/** An old address that was not proved gets an undo link too, until another address is proved. */
export async function unprovedUndos(t: TestContext, target: Target, people: People): Promise<void> {
  const { admin, mail, post, patch, recordOf, register, registerProved, recordPath, enrol, logIn, undo } = people;
  const { undoLink, hasEnded } = people;
  const move = async (person: Person, email = newAddress('moved')) => {
    const answer = await patch(person, { email, old_password: password });
    assert.equal(answer.status, 200, answer.text);
    return email;
  };
  const requestChange = async (person: Person, email = newAddress('moved')) => {
    await post('/request-email-change', { email, old_password: password }, person.client);
    return (await mail.mailTo(email, { subject: 'Confirm your new address' })).token;
  };
  const insertLink = ({ id }: Person, provider: string) =>
    inDatabase(
      target,
      `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at)
      select id, $2, $1 || $2, $1, extract(epoch from now())::bigint - 3600 from system.collections where name = 'holders'`,
      [id, provider],
    );
  const isVoid = async (token: string) => {
    const answer = await undo(token);
    assert.deepEqual([answer.status, codeOf(answer)], [401, 'invalid_token']);
  };

  await t.test(`it restores the address, and removes everything attached before [${spec}]`, async () => {
    const ann = await register('ann');
    await insertLink(ann, 'google');
    await enrol(ann);
    const moved = await move(ann);
    const token = await undoLink(ann.email);
    assert.match((await mail.mailTo(ann.email, { subject: subjects.moved })).email.text ?? '', /7 days at most/);
    const answers = await Promise.all([1, 2, 3].map(() => undo(token)));
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401]);
    const { email, verified } = await recordOf(ann);
    assert.deepEqual([email, verified], [ann.email, true]);
    await hasEnded(ann);
    assert.deepEqual([statusOf(await logIn(ann.email)), statusOf(await logIn(moved))], [401, 401]);
    const notice = await mail.mailTo(ann.email, { subject: subjects.removed });
    assert.match(notice.email.text ?? '', /the password, the authenticator app, sign-in with google/);
    const { token: reset } = await mail.mailTo(ann.email, { subject: subjects.reset });
    assert.equal(statusOf(await post('/confirm-password-reset', { token: reset, password: `${password}!` })), 200);
    const session = await logIn(ann.email, `${password}!`);
    assert.deepEqual(Object.keys(session.json?.['data' as never] ?? {}), ['token', 'record'], 'no second factor');
    await allNoticed(target, people);
    assert.equal((await mail.mailTo(moved, { subject: subjects.moved })).token, undefined, 'the removed address');
    assert.equal(mailsTo(mail, ann.email, subjects.reset), 1, 'one link sends one reset mail');
  });

  const proofs: Readonly<Record<string, (person: Person) => Promise<unknown>>> = {
    'the verification link': async (person) => {
      await post('/request-verify', {}, person.client);
      const { token } = await mail.mailTo(person.email, { subject: subjects.verify });
      assert.equal(statusOf(await post('/verify-email', { token })), 200);
    },
    'a reset': ({ email }) => people.reset(email, `${password}!`),
    'a code': async ({ email }) => {
      await post('/otp/request', { email });
      const { token } = await mail.mailTo(email, { subject: 'Your sign-in code' });
      assert.equal(statusOf(await post('/otp/auth', { token })), 200);
    },
    'an admin': (person) => admin.patch(recordPath(person), { verified: true }),
  };
  for (const [way, prove] of Object.entries(proofs))
    await t.test(`it is void as soon as the new address is proved by ${way} [${spec}]`, async () => {
      const bob = await register('bob');
      const email = await move(bob);
      const token = await undoLink(bob.email);
      await prove({ ...bob, email });
      await isVoid(token);
      const record = await recordOf(bob);
      assert.deepEqual([record.email, record.verified], [email, true]);
    });

  await t.test(`a link that confirms a new address is a proof [${spec}]`, async () => {
    const cid = await register('cid');
    const middle = await move(cid);
    const token = await undoLink(cid.email);
    assert.equal(statusOf(await post('/confirm-email-change', { token: await requestChange(cid) })), 200);
    await isVoid(token);
    assert.equal((await mail.mailTo(middle, { subject: subjects.moved })).token, undefined, 'told, without a link');
  });

  await t.test(`a proof before the mail is queued voids its link [${spec}]`, async () => {
    for (let round = 0; round < 5; round += 1) {
      const dan = await register('dan');
      await move(dan);
      await admin.patch(recordPath(dan), { verified: true });
      const { token } = await mail.mailTo(dan.email, { subject: subjects.moved });
      if (token !== undefined) await isVoid(token);
    }
  });

  await t.test(`proving the new address leaves a proved one's link valid [${spec}]`, async () => {
    const eve = await registerProved('eve');
    const middle = await move(eve);
    const [early, late] = [await undoLink(eve.email), await move(eve)];
    const unproved = await undoLink(middle);
    await proofs['the verification link']?.({ ...eve, email: late });
    await isVoid(unproved);
    assert.equal(statusOf(await undo(early)), 200);
    const { email, verified } = await recordOf(eve);
    assert.deepEqual([email, verified], [eve.email, true]);
  });

  await t.test(
    `it outlives a sign-out everywhere and a new password, but not when an earlier change is undone`,
    async () => {
      const fay = await register('fay');
      const middle = await move(fay);
      const [early, last] = [await undoLink(fay.email), await move(fay)];
      const late = await undoLink(middle);
      await fay.client.delete('/api/v1/auth/holders/sessions');
      assert.equal(statusOf(await patch(fay, { password: `${password}!`, old_password: password })), 200);
      assert.equal(statusOf(await undo(early)), 200);
      await isVoid(late);
      assert.equal((await recordOf(fay)).email, fay.email);
      await allNoticed(target, people);
      assert.equal((await mail.mailTo(last, { subject: subjects.moved })).token, undefined);
    },
  );

  await t.test('an address that another user has proved meanwhile stays with that user [identity §4.6]', async () => {
    const gil = await register('gil');
    await move(gil);
    const token = await undoLink(gil.email);
    const other = await target.guest.post('/api/v1/auth/holders/register', { email: gil.email, password });
    const otherId = String((other as { record: { id: string } }).record.id);
    await admin.patch(`/api/v1/holders/${otherId}`, { verified: true });
    const taken = await undo(token);
    assert.deepEqual([taken.status, codeOf(taken)], [409, 'email_taken']);
    await admin.delete(`/api/v1/holders/${otherId}`);
    assert.equal(statusOf(await undo(token)), 200, 'the refusal does not use up the link');
  });
}
