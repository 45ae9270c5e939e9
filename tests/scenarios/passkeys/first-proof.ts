import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { startMailServer } from '../../harness/servers/mail-server.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { auth, badPasskey, type Members, outcome, password } from './members.ts';

/** The first proof of an address removes passkeys that may be another person's. */
export async function firstProof(t: TestContext, { guest }: Target, members: Members): Promise<void> {
  const { admin } = members;
  await using mail = await startMailServer();
  // The mails' settings name the app, and with it another site.
  const site = { 'auth.passkeys.rp_id': 'localhost', 'auth.passkeys.origins': 'http://localhost:*' };
  await admin.patch('/api/v1/admin/settings', { ...mail.settings, ...site, 'auth.otp.enabled': '1' });
  await eventually('mail is enabled', async () => {
    const { client } = await members.register();
    return (await client.send('POST', `${auth}/request-verify`)).status === 200;
  });
  const removed = async (email: string) =>
    (await mail.mailTo(email, { subject: 'A way to sign in was removed' })).email.text ?? '';

  await t.test('by the link: they go, and the mail says so [identity §2.3]', async () => {
    const intruder = await members.register();
    const key = await members.withPasskey(intruder);
    const pending = key.create(await members.begin(intruder));
    const { token } = await mail.mailTo(intruder.email, { subject: 'Verify your email' });
    const verified = await guest.send('POST', `${auth}/verify-email`, { body: { token } });
    assert.deepEqual(verified.json, { data: { verified: true, dropped: ['passkeys'] } });
    assert.deepEqual(outcome(await members.signIn(key)), badPasskey);
    assert.deepEqual(outcome(await members.finish(intruder, pending)), badPasskey, 'its challenge ended');
    assert.match(await removed(intruder.email), /passkeys/);
    assert.ok((await members.actionsOn(intruder)).includes('users.first_proof'));
    const later = await members.withPasskey(intruder);
    await guest.post(`${auth}/request-password-reset`, { email: intruder.email }, 200);
    const reset = await mail.mailTo(intruder.email, { subject: 'Reset your password' });
    await guest.post(`${auth}/confirm-password-reset`, { token: reset.token, password }, 200);
    assert.equal((await members.signIn(later)).status, 200, 'a proved address keeps them');
  });

  await t.test("by the link with the account's session: they stay", async () => {
    const owner = await members.register();
    const key = await members.withPasskey(owner);
    const { token } = await mail.mailTo(owner.email, { subject: 'Verify your email' });
    assert.deepEqual((await owner.client.send('POST', `${auth}/verify-email`, { body: { token } })).json, {
      data: { verified: true },
    });
    assert.equal((await members.signIn(key)).status, 200);
  });

  for (const [name, path, subject, prove] of [
    ['a code', 'otp/request', 'Your sign-in code', (token?: string) => ['otp/auth', { token }]],
    [
      'a reset',
      'request-password-reset',
      'Reset your password',
      (token?: string) => ['confirm-password-reset', { token, password }],
    ],
  ] as const)
    await t.test(`by ${name}: they go [identity §2.2]`, async () => {
      const intruder = await members.register();
      const key = await members.withPasskey(intruder);
      await guest.post(`${auth}/${path}`, { email: intruder.email }, 200);
      const { token } = await mail.mailTo(intruder.email, { subject });
      const [route, body] = prove(token);
      assert.equal((await guest.send('POST', `${auth}/${route}`, { body })).status, 200);
      assert.deepEqual(outcome(await members.signIn(key)), badPasskey);
      assert.match(await removed(intruder.email), /passkeys/);
    });

  await admin.patch('/api/v1/admin/settings', {
    'smtp.enabled': '',
    'auth.otp.enabled': '',
    'auth.passkeys.rp_id': '',
    'auth.passkeys.origins': '',
  });
}
