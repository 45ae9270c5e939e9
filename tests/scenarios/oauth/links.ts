import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, textAt } from '../../harness/json.ts';
import { startMailServer } from '../../harness/servers/mail-server.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { newPerson, password, path, statusOf, type Visitor } from './visitor.ts';

/** Links that their owner removes, or the product to protect the owner. */
export async function links(t: TestContext, target: Target, visitor: Visitor): Promise<void> {
  const { signIn, as, register, merge, mergeTokenFor, unlink } = visitor;
  const admin = await target.admin();
  const { guest } = target;
  await t.test('the owner can remove a link, unless it is the last way to sign in', async () => {
    const person = newPerson('wim');
    const { token: stranger } = await register('stranger@example.com');
    const only = textAt((await signIn(person)).json, 'data.token');
    assert.equal(statusOf(await unlink(stranger)), 404, 'another user has no link');
    const last = await unlink(only);
    assert.equal(last.status, 409);
    assert.equal(textAt(last.json, 'code'), 'last_way_in');
    const { id, token } = await register('xia@example.com');
    const merged = newPerson('xia');
    await merge({ merge_token: await mergeTokenFor(merged), password });
    assert.equal(textAt((await signIn(merged)).json, 'data.record.id'), id);
    const listed = await as(token).get(`${path}/links`);
    const [link, ...others] = listAt(listed.json, 'data');
    assert.deepEqual([link?.provider, link?.provider_user_id, others], ['oidc', merged.id, []]);
    assert.ok(Math.abs(Number(link?.created) - Date.now() / 1000) < 86_400);
    assert.deepEqual((await as(stranger).get(`${path}/links`)).json, { data: [] });
    assert.equal(statusOf(await guest.get(`${path}/links`)), 401);
    const answers = await Promise.all([unlink(token), unlink(token)]);
    assert.deepEqual(answers.map(statusOf).sort(), [200, 404]);
    assert.deepEqual(answers.find(({ status }) => status === 200)?.json, { data: { unlinked: 'oidc' } });
    assert.equal(at((await signIn(merged)).json, 'merge_required'), true);
    assert.equal(statusOf(await as(only).send('DELETE', `${path}/myspace/unlink`)), 404);
  });

  await t.test('the first verification by mail removes earlier links [identity §2.3]', async () => {
    await using mail = await startMailServer();
    await admin.patch('/api/v1/admin/settings', mail.settings);
    const email = `pre.${randomUUID()}@example.com`;
    // A stranger registers another person's address and links their own account before the owner signs in.
    const { id, token } = await eventually('mail is enabled', async () => {
      const account = await register(`${randomUUID()}@example.com`);
      const requested = await as(account.token).send('POST', '/api/v1/auth/people/request-verify');
      return statusOf(requested) === 200 && (await register(email));
    });
    const intruder = { id: randomUUID(), email, email_verified: true };
    assert.equal(statusOf(await merge({ merge_token: await mergeTokenFor(intruder) }, as(token))), 200);
    assert.equal(textAt((await signIn(intruder)).json, 'data.record.id'), id);
    const proof = { token: (await mail.mailTo(email)).token };
    const verified = await guest.send('POST', '/api/v1/auth/people/verify-email', { body: proof });
    assert.deepEqual(verified.json, { data: { verified: true, dropped: ['links'] } });
    assert.equal(at((await signIn(intruder)).json, 'merge_required'), true);
    await admin.patch('/api/v1/admin/settings', { 'smtp.enabled': '' });
  });

  await t.test(
    "a claimed address's owner who verifies it gets the account without the other user's links",
    async () => {
      await using mail = await startMailServer();
      await admin.patch('/api/v1/admin/settings', mail.settings);
      const intruder = { id: randomUUID() };
      const first = await signIn(intruder);
      const id = textAt(first.json, 'data.record.id');
      const email = 'victim@example.com';
      await as(textAt(first.json, 'data.token')).patch(`/api/v1/people/${id}`, { email });
      const reset = await eventually('the reset is mailed', async () => {
        await guest.post('/api/v1/auth/people/request-password-reset', { email }, 200);
        return mail.mailTo(email, { subject: 'Reset your password' });
      });
      await guest.post('/api/v1/auth/people/confirm-password-reset', { token: reset.token, password }, 200);
      assert.notEqual(textAt((await signIn(intruder)).json, 'data.record.id'), id);
      const owner = await guest.post('/api/v1/auth/people/login', { email, password }, 200);
      assert.equal(textAt(owner, 'record.id'), id);
      assert.equal(statusOf(await unlink(textAt(owner, 'token'))), 404);
      await admin.patch('/api/v1/admin/settings', { 'smtp.enabled': '' });
    },
  );
}
