import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { type Answer, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

const password = 'a long and winding password';
const auth = '/api/v1/auth/readers';

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();

/** Accepts connections and never sends anything. */
async function startMuteServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' ? address?.port : undefined,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('two replicas share the limits on codes and mails [auth §8.5]', async (t) => {
  await using ground = await createGround();
  await using first = await startStack({ topology: 'one', ground });
  await using second = await startStack({ topology: 'one', beside: ground });
  await using mail = await startMailServer();
  const admin = await first.admin();
  await admin.post('/api/v1/collections', { name: 'readers', type: 'auth' });

  const onBoth = (path: string, bodies: readonly object[]) =>
    Promise.all(
      bodies.map((body, index) => [first, second][index % 2]?.guest.send('POST', `${auth}${path}`, { body })),
    ).then((answers) => answers.filter((answer) => answer !== undefined));
  const register = async (email: string) =>
    textAt(await first.guest.post(`${auth}/register`, { email, password }), 'token');

  await t.test('a silent mail server delays no request', async () => {
    await using mute = await startMuteServer();
    await admin.patch('/api/v1/admin/settings', {
      ...mail.settings,
      'smtp.port': String(mute.port),
      'auth.otp.enabled': '1',
    });
    const request = () => first.guest.send('POST', `${auth}/otp/request`, { body: { email: 'slow@example.com' } });
    await eventually('codes are enabled', async () => (await request()).status === 200);
    await register('slow@example.com');
    await eventually('the mail is being sent', () => mute.sockets.size > 0);
    assert.equal((await request()).status, 200);
    await admin.patch('/api/v1/admin/settings', mail.settings);
  });

  await t.test('each mail arrives once', async () => {
    await eventually('the second replica has the setting', async () => {
      const answer = await second.guest.send('POST', `${auth}/otp/request`, { body: { email: 'x@example.com' } });
      return answer.status === 200;
    });
    const people = Array.from({ length: 10 }, (_, index) => `p${index}@example.com`);
    await Promise.all(people.map(register));
    for (const person of people) await mail.mailTo(person, { subject: 'Verify your email' });
    await onBoth(
      '/otp/request',
      people.map((email) => ({ email })),
    );
    for (const person of people) await mail.mailTo(person, { subject: 'Your sign-in code' });
    const recipients = mail.received.flatMap((one) => one.recipients).filter((one) => one.startsWith('p'));
    assert.deepEqual(recipients.sort(), [...people, ...people].sort());
  });

  await t.test('when both replicas get a code several times at once, one use succeeds', async () => {
    const { code, token } = await mail.mailTo('p3@example.com', { subject: 'Your sign-in code' });
    const proof = [{ email: 'p3@example.com', code }, { token }];
    const answers = await onBoth('/otp/auth', [...proof, ...proof.toReversed()]);
    assert.deepEqual(statuses(answers), [200, 401, 401, 401]);
  });

  await t.test('only five of many guesses on both replicas are checked', async () => {
    const { code = '' } = await mail.mailTo('p4@example.com', { subject: 'Your sign-in code' });
    const wrong = { email: 'p4@example.com', code: code === '000000' ? '000001' : '000000' };
    assert.deepEqual(statuses(await onBoth('/otp/auth', Array(6).fill(wrong))), Array(6).fill(401));
    assert.deepEqual(statuses(await onBoth('/otp/auth', [{ ...wrong, code }])), [401]);
  });

  await t.test('a stranger gets five mails from 300 parallel requests on both replicas [identity §6.1]', async () => {
    await first.guest.post(`${auth}/otp/request`, { email: 'p5@example.com' }, 200);
    const { token } = await mail.mailTo('p5@example.com', { subject: 'Your sign-in code', count: 2 });
    // Sign-in with a code verifies the address and removes an unverified account's password (identity §2.2).
    const session = await first.guest.post(`${auth}/otp/auth`, { token }, 200);
    const clients = [first, second].map(({ url }) => createClient(url, textAt(session, 'token')));
    const stranger = 'stranger@example.com';
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        clients[index % 2]?.send('POST', `${auth}/request-email-change`, { body: { email: stranger } }),
      ),
    );
    // On a busy machine some wait too long for the database.
    const refused = answers.filter((answer) => answer?.status === 503).length;
    assert.equal(answers.filter((answer) => answer?.status === 200).length, answers.length - refused);
    assert.ok(answers.length - refused > 5, `${refused} were refused`);
    await admin.patch('/api/v1/admin/settings', { 'metrics.enabled': '1' });
    await eventually('no mail waits', async () =>
      /^recordbus_mails_waiting(\{.*\})? 0$/m.test((await first.guest.get('/api/v1/metrics')).text),
    );
    assert.equal(mail.received.filter(({ recipients }) => recipients.includes(stranger)).length, 5);
  });

  await t.test('when both replicas get second factors at once, one is accepted', async () => {
    const client = createClient(first.url, await register('totp@example.com'));
    const secret = textAt((await client.send('POST', `${auth}/totp/setup`)).json, 'secret');
    const { codes } = (await client.post(`${auth}/totp/confirm`, { code: totpCode(secret) }, 200)) as {
      codes: string[];
    };
    const begin = async () =>
      textAt(await second.guest.post(`${auth}/login`, { email: 'totp@example.com', password }, 200), 'mfa_token');
    for (const factor of [{ code: totpCode(secret, 1) }, { recovery_code: codes[0] }]) {
      const begun = [await begin(), await begin(), await begin(), await begin()];
      const answers = await onBoth(
        '/login/mfa',
        begun.map((mfa_token) => ({ mfa_token, ...factor })),
      );
      assert.deepEqual(statuses(answers), [200, 401, 401, 401]);
    }
  });
});
