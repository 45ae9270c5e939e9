import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { ageSignIns, auth, codeOf, newAddress, type People, password, statusOf, subjects } from './people.ts';

const spec = 'identity §5';

/** Who steals a session cannot take over its account. */
export async function stolenSession(t: TestContext, target: Target, people: People): Promise<void> {
  const { admin, mail, post, patch, recordOf, register, registerProved, enrol, logIn, reset, hasEnded } = people;

  await t.test(`it cannot change the address, by either route, or remove the second factor [${spec}]`, async () => {
    const ann = await registerProved('ann');
    const secret = await enrol(ann);
    const evil = newAddress('evil');
    for (const proof of [{}, { old_password: 'wrong' }, { old_password: null }]) {
      const moved = await patch(ann, { email: evil, ...proof });
      assert.deepEqual([moved.status, codeOf(moved)], [403, 'proof_required'], moved.text);
    }
    for (const proof of [{}, { old_password: 'wrong' }]) {
      const requested = await post('/request-email-change', { email: evil, ...proof }, ann.client);
      assert.deepEqual([requested.status, codeOf(requested)], [403, 'proof_required']);
      const disabled = await post('/totp/disable', { code: totpCode(secret, 1), ...proof }, ann.client);
      assert.deepEqual([disabled.status, codeOf(disabled)], [403, 'proof_required']);
    }
    const { email, verified } = await recordOf(ann);
    assert.deepEqual([email, verified], [ann.email, true]);
    // A write that changes nothing needs no proof: a record can be sent back as it was read.
    assert.equal(statusOf(await patch(ann, { email, verified })), 200);
    assert.equal(statusOf(await patch(ann, { email: ann.email.toUpperCase() })), 200);
    assert.equal(statusOf(await patch(ann, { email: 'nowhere' })), 422);
    const wrongCode = await post('/totp/disable', { code: '000000', old_password: password }, ann.client);
    assert.equal(wrongCode.status, 422, 'the password alone is not enough either');
  });

  await t.test(`even with the password it cannot remove the second factor [${spec}]`, async () => {
    const bea = await registerProved('bea');
    await enrol(bea);
    const evil = newAddress('evil');
    const moved = await patch(bea, { email: evil, old_password: password });
    assert.equal(moved.status, 200, moved.text);
    assert.equal((await recordOf(bea)).verified, false);
    await reset(evil, 'the password of a thief');
    const first = await logIn(evil, 'the password of a thief');
    assert.deepEqual([first.status, textAt(first.json, 'data.mfa_token') !== ''], [200, true]);
    assert.ok((await mail.mailTo(bea.email, { subject: subjects.moved })).token, 'the old address can undo the change');
  });

  await t.test(`guesses at the old password are limited, and need the update rule [${spec}]`, async () => {
    const cid = await register('cid');
    const stranger = await register('stranger');
    const guess = (client = cid.client) => patch(cid, { email: newAddress('x'), old_password: 'a guess' }, client);
    for (let tries = 0; tries < 12; tries += 1) assert.equal(codeOf(await guess(stranger.client)), 'forbidden');
    const answers = await Promise.all(Array.from({ length: 14 }, () => guess()));
    assert.equal(answers.filter(({ status }) => status === 403).length, 10);
    assert.equal(answers.filter(({ status }) => status === 429).length, 4);
  });

  await t.test(`an account without a password needs a sign-in within the last ten minutes [${spec}]`, async () => {
    const dot = await register('dot');
    await post('/otp/request', { email: dot.email });
    const { code } = await mail.mailTo(dot.email, { subject: 'Your sign-in code' });
    const signedIn = await post('/otp/auth', { email: dot.email, code });
    const client = createClient(target.url, textAt(signedIn.json, 'data.token'));
    const next = newAddress('dot');
    assert.equal(statusOf(await patch(dot, { email: next }, client)), 200);
    await ageSignIns(target, dot);
    const late = await patch(dot, { email: newAddress('dot') }, client);
    assert.deepEqual([late.status, codeOf(late)], [403, 'proof_required']);
    const refreshed = await client.post('/api/v1/auth/refresh', undefined, 200);
    const again = createClient(target.url, textAt(refreshed, 'token'));
    assert.equal(codeOf(await patch(dot, { email: newAddress('dot') }, again)), 'proof_required');
    assert.equal(codeOf(await post('/request-email-change', { email: newAddress('d') }, again)), 'proof_required');
    assert.equal((await recordOf(dot)).email, next);
  });

  await t.test(
    'an old session cannot add or replace a second factor without the password or a new sign-in',
    async () => {
      const eli = await registerProved('eli');
      await ageSignIns(target, eli);
      assert.equal(codeOf(await post('/totp/setup', {}, eli.client)), 'proof_required');
      const { json } = await post('/totp/setup', { old_password: password }, eli.client);
      assert.equal(statusOf(await post('/totp/confirm', { code: totpCode(textAt(json, 'secret')) }, eli.client)), 200);
      assert.equal(codeOf(await post('/totp/recovery/regenerate', undefined, eli.client)), 'proof_required');
      const replaced = await post('/totp/recovery/regenerate', { old_password: password }, eli.client);
      assert.equal(replaced.status, 200, replaced.text);
    },
  );

  await t.test(`pending links end with all sessions [${spec}]`, async () => {
    const fay = await register('fay');
    const { token: verification } = await mail.mailTo(fay.email, { subject: subjects.verify });
    const wanted = newAddress('wanted');
    assert.equal(
      statusOf(await post('/request-email-change', { email: wanted, old_password: password }, fay.client)),
      200,
    );
    const { token: change } = await mail.mailTo(wanted);
    await post('/request-password-reset', { email: fay.email });
    const { token: forgotten } = await mail.mailTo(fay.email, { subject: subjects.reset });
    await post('/otp/request', { email: fay.email });
    const { code, token: link } = await mail.mailTo(fay.email, { subject: 'Your sign-in code' });
    await fay.client.delete(`${auth}/sessions`);
    assert.equal(statusOf(await post('/confirm-email-change', { token: change })), 401);
    assert.equal(statusOf(await post('/verify-email', { token: verification })), 401);
    assert.equal(statusOf(await post('/confirm-password-reset', { token: forgotten, password })), 401);
    assert.equal(statusOf(await post('/otp/auth', { token: link })), 401);
    assert.equal(statusOf(await post('/otp/auth', { email: fay.email, code })), 401);
  });

  await t.test(`the address is notified about a new password and a removed app [${spec}]`, async () => {
    const gil = await registerProved('gil');
    const secret = await enrol(gil);
    const disabled = await post('/totp/disable', { code: totpCode(secret, 1), old_password: password }, gil.client);
    assert.equal(disabled.status, 200, disabled.text);
    assert.match((await mail.mailTo(gil.email, { subject: subjects.removed })).email.text ?? '', /authenticator app/);
    await patch(gil, { password: `${password}!`, old_password: password });
    await mail.mailTo(gil.email, { subject: subjects.password });
    await admin.patch(`/api/v1/holders/${gil.id}`, { password });
    await mail.mailTo(gil.email, { subject: subjects.password, count: 2 });
    await reset(gil.email, `${password}?`);
    await mail.mailTo(gil.email, { subject: subjects.password, count: 3 });
    await hasEnded(gil);
  });

  await t.test('a refreshed token without a session does not count as a sign-in', async () => {
    const ivy = await register('ivy');
    await inDatabase(target, 'update system.sessions set signed_in_at = null where account_id = $1', [ivy.id]);
    const answer = await eventually('an answer', () => post('/totp/setup', {}, ivy.client));
    assert.equal(codeOf(answer), 'proof_required');
  });
}
