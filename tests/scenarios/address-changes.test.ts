import assert from 'node:assert/strict';
import { textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { password, path, prepareReaders, statusOf } from './account-mails/readers.ts';

onEachTopology('an address is changed by mail', async (t, target) => {
  const { mail, post, register, isVerified, login } = await prepareReaders(target);
  await using _ = mail;

  await t.test(
    'the new address confirms the change, the old one is notified, and verified is kept [identity §4.2]',
    async () => {
      const hal = await register('hal@example.com');
      assert.equal(statusOf(await post('/verify-email', { token: (await mail.mailTo('hal@example.com')).token })), 200);
      const answer = await post(
        '/request-email-change',
        { email: ' hal@new.example.com ', old_password: password },
        hal.token,
      );
      assert.deepEqual([answer.status, answer.json], [200, { data: { sent: true } }]);
      const { token } = await mail.mailTo('hal@new.example.com');
      assert.equal(await login('hal@example.com', password), 200);
      assert.deepEqual((await post('/confirm-email-change', { token })).json, { data: { changed: true } });
      assert.equal(statusOf(await post('/confirm-email-change', { token })), 401);
      assert.equal(await login('hal@example.com', password), 401);
      assert.equal(await login('hal@new.example.com', password), 200);
      assert.equal(await isVerified(hal.id), true);
      assert.equal((await hal.client.get(`${path}/sessions`)).status, 200);
      const notice = await mail.mailTo('hal@example.com', { count: 2 });
      assert.match(notice.email.text ?? '', /hal@new\.example\.com/);
    },
  );

  await t.test('the password may come with the confirmation instead [identity §4.1]', async () => {
    const kay = await register('kay@example.com');
    const later = { email: 'kay@new.example.com', prove_later: true };
    assert.equal(statusOf(await post('/request-email-change', later)), 401, 'it takes a session');
    assert.equal(statusOf(await post('/request-email-change', { ...later, prove_later: 'yes' }, kay.token)), 422);
    assert.equal(statusOf(await post('/request-email-change', later, kay.token)), 200);
    const { token } = await mail.mailTo('kay@new.example.com');
    for (const given of [{}, { password: 'a guess' }]) {
      const refusal = await post('/confirm-email-change', { token, ...given });
      assert.deepEqual([refusal.status, textAt(refusal.json, 'code')], [403, 'proof_required']);
      assert.match(textAt(refusal.json, 'details.password'), /^is (required|wrong)$/);
    }
    assert.equal(await login('kay@example.com', password), 200, 'nothing has changed');
    assert.equal(statusOf(await post('/confirm-email-change', { token: 'guessed', password })), 401);
    assert.equal(statusOf(await post('/confirm-email-change', { token, password })), 200);
    assert.equal(await login('kay@new.example.com', password), 200);
    assert.equal(statusOf(await post('/confirm-email-change', { token, password })), 401, 'the token works once');
  });

  await t.test('guesses at that password are limited, and the right one no longer helps', async () => {
    const lee = await register('lee@example.com');
    const later = { email: 'lee@new.example.com', prove_later: true };
    await post('/request-email-change', later, lee.token);
    const { token } = await mail.mailTo('lee@new.example.com');
    const guesses = Array.from({ length: 14 }, () => post('/confirm-email-change', { token, password: 'a guess' }));
    const answers = (await Promise.all(guesses)).map(statusOf);
    assert.deepEqual([answers.filter((status) => status === 403).length, answers.includes(200)], [10, false]);
    assert.equal(statusOf(await post('/confirm-email-change', { token, password })), 429);
  });

  await t.test('an address that another user has taken in between is refused', async () => {
    const ida = await register('ida@example.com');
    await mail.mailTo('ida@example.com');
    await post('/request-email-change', { email: 'wanted@example.com', old_password: password }, ida.token);
    const { token } = await mail.mailTo('wanted@example.com');
    await register('wanted@example.com');
    assert.equal(statusOf(await post('/confirm-email-change', { token })), 422);
  });

  await t.test('the answer does not reveal whether an address is taken', async () => {
    const jan = await register('jan@example.com');
    const answers = await Promise.all(
      ['ida@example.com', 'free@example.com'].map((email) =>
        post('/request-email-change', { email, old_password: password }, jan.token),
      ),
    );
    assert.deepEqual(
      answers.map(({ status, json }) => [status, json]),
      answers.map(() => [200, { data: { sent: true } }]),
    );
    await mail.mailTo('free@example.com');
    assert.equal(mail.received.filter(({ recipients }) => recipients.includes('ida@example.com')).length, 1);
    assert.equal(statusOf(await post('/request-email-change', { email: 'nowhere' }, jan.token)), 422);
  });
});
