import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { auth, type People, type Person, password, statusOf, subjects } from './people.ts';

const spec = 'identity §2';

/** What an account loses when its address is verified for the first time. */
export async function firstProof(t: TestContext, target: Target, people: People): Promise<void> {
  const { mail, post, register, enrol, logIn, registerProved, patch, recordOf, hasEnded } = people;
  const link = ({ id }: Person) =>
    inDatabase(
      target,
      `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at)
       select id, 'google', $1, $1, extract(epoch from now())::bigint from system.collections where name = 'holders'`,
      [id],
    );
  const unlink = ({ client }: Person) => client.send('DELETE', `${auth}/oauth2/google/unlink`);
  const proofOf = async ({ email }: Person) => (await mail.mailTo(email, { subject: subjects.verify })).token;

  await t.test(`by the link: password and sessions stay, the app and earlier links are removed [${spec}]`, async () => {
    const ann = await register('ann');
    await link(ann);
    await enrol(ann);
    const answer = await post('/verify-email', { token: await proofOf(ann) });
    assert.deepEqual([answer.status, answer.json], [200, { data: { verified: true, dropped: ['totp', 'links'] } }]);
    assert.equal(statusOf(await unlink(ann)), 404);
    assert.equal(statusOf(await ann.client.get(`${auth}/sessions`)), 200);
    assert.deepEqual(Object.keys((await logIn(ann.email)).json?.['data' as never] ?? {}), ['token', 'record']);
    const notice = await mail.mailTo(ann.email, { subject: subjects.removed });
    assert.match(notice.email.text ?? '', /authenticator app, sign-in with google/);
  });

  await t.test(`by the link with the account's session: everything stays [${spec}]`, async () => {
    const [bob, other] = [await register('bob'), await registerProved('other')];
    await link(bob);
    await enrol(bob);
    const answer = await post('/verify-email', { token: await proofOf(bob) }, bob.client);
    assert.deepEqual(answer.json, { data: { verified: true } });
    assert.equal(statusOf(await unlink(bob)), 200);
    const cid = await register('cid');
    await link(cid);
    const elsewhere = await post('/verify-email', { token: await proofOf(cid) }, other.client);
    assert.deepEqual(elsewhere.json, { data: { verified: true, dropped: ['links'] } }, 'a session of another user');
  });

  await t.test(`by a code: all earlier ways to sign in are removed [${spec}]`, async () => {
    const dan = await register('dan');
    await link(dan);
    await enrol(dan);
    await post('/otp/request', { email: dan.email });
    const { token } = await mail.mailTo(dan.email, { subject: 'Your sign-in code' });
    const answer = await post('/otp/auth', { token });
    assert.deepEqual(Object.keys(answer.json?.['data' as never] ?? {}), ['token', 'record']);
    await hasEnded(dan);
    assert.equal(statusOf(await logIn(dan.email)), 401);
    const notice = await mail.mailTo(dan.email, { subject: subjects.removed });
    assert.match(notice.email.text ?? '', /the password, the authenticator app, sign-in with google/);
  });

  await t.test(`a second factor stays if the account ever had a verified address [${spec}]`, async () => {
    for (const clear of ['address', 'admin']) {
      const eli = await registerProved('eli');
      await enrol(eli);
      if (clear === 'address') {
        const moved = await patch(eli, { email: `new.${eli.email}`, old_password: password });
        assert.equal(moved.status, 200, moved.text);
      } else await people.admin.patch(`/api/v1/holders/${eli.id}`, { verified: false });
      const email = String((await recordOf(eli)).email);
      await post('/otp/request', { email });
      const { token } = await mail.mailTo(email, { subject: 'Your sign-in code' });
      const answer = await post('/otp/auth', { token });
      assert.deepEqual(Object.keys(answer.json?.['data' as never] ?? {}), ['mfa_required', 'mfa_token'], clear);
      assert.equal(
        Object.keys(await recordOf(eli)).some((name) => /proved/.test(name)),
        false,
      );
    }
  });
}
