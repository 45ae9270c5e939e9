import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { type Answer, createClient } from '../harness/clients/client.ts';
import { multipart } from '../harness/clients/multipart.ts';
import { textAt } from '../harness/json.ts';
import { mint } from '../harness/sign-in/tokens.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { password, prepareTargets, resetMailTo, statuses, statusOf, type Targets, users } from './attack-targets.ts';

/** Returns a new token of every kind, all one user's except an admin's and an anonymous user's. */
async function everyToken({ admin, mail, register, post }: Targets, target: Target) {
  const user = await register(`kinds.${randomUUID()}@example.com`);
  const { email, id, client } = user;
  const tokenOf = async (answer: Promise<Answer>, to: string, subject?: string): Promise<string> => {
    assert.equal(statusOf(await answer), 200);
    return (
      (await mail.mailTo(to, subject === undefined ? {} : { subject })).token ?? assert.fail('a mail without a token')
    );
  };
  const verification = (await mail.mailTo(email)).token ?? assert.fail('no token');
  const reset = await tokenOf(post(`${users}/request-password-reset`, { email }), email, 'Reset your password');
  const newEmail = `wanted.${id}@example.com`;
  const change = await tokenOf(
    client.send('POST', `${users}/request-email-change`, { body: { email: newEmail, old_password: password } }),
    newEmail,
  );
  const form = multipart({ name: 'paper', filename: 'a.txt', content: 'secret' });
  const { json } = await client.send('PATCH', `/api/v1/targets/${id}`, form);
  const filename = textAt(json, 'data.paper');
  const file = await client.post('/api/v1/files/token', { collection: 'targets', id, filename }, 200);
  const impersonated = await admin.post(`/api/v1/admin/impersonate/targets/${id}`, undefined, 200);
  const anonymous = await target.guest.post(`${users}/anonymous`, undefined);
  const { email: rootEmail } = await admin.post('/api/v1/admin/admins', { email: `root.${id}@example.com`, password });
  const root = await target.guest.post('/api/v1/admin/login', { email: rootEmail, password }, 200);
  const { secret } = await client.post(`${users}/totp/setup`, undefined, 200);
  await client.post(`${users}/totp/confirm`, { code: totpCode(String(secret)) }, 200);
  const firstFactor = await target.guest.post(`${users}/login`, { email, password }, 200);
  const link = await tokenOf(post(`${users}/otp/request`, { email }), email, 'Your sign-in code');
  return {
    secret: String(secret),
    filePath: `/api/files/targets/${id}/${filename}`,
    tokens: {
      user: user.token,
      impersonated: textAt(impersonated, 'token'),
      anonymous: textAt(anonymous, 'token'),
      admin: textAt(root, 'token'),
      verification,
      reset,
      change,
      file: textAt(file, 'token'),
      mfa: textAt(firstFactor, 'mfa_token'),
      link,
    },
  };
}

type Kind = keyof Awaited<ReturnType<typeof everyToken>>['tokens'];

onEachTopology("a token never works in another kind's place [auth §8.4]", async (t, target) => {
  const targets = await prepareTargets(target);
  await using _ = targets.mail;
  const { tokens, filePath, secret } = await everyToken(targets, target);
  const { post } = targets;
  const asBearer = (path: string) => (token: string) => createClient(target.url, token).get(path);
  /** Each place that takes a token: how to use one there, and the status for each kind that it knows; 401 for the others. */
  const places: Record<string, { use: (token: string) => Promise<Answer>; known: Partial<Record<Kind, number>> }> = {
    'the sessions of a user': {
      use: asBearer(`${users}/sessions`),
      known: { user: 200, impersonated: 200, anonymous: 200, admin: 403 },
    },
    'the account of an admin': {
      use: asBearer('/api/v1/admin/me'),
      known: { user: 403, impersonated: 403, anonymous: 403, admin: 200 },
    },
    'a refresh': {
      use: (token) => createClient(target.url, token).send('POST', '/api/v1/auth/refresh'),
      known: { user: 200, impersonated: 200, anonymous: 200, admin: 200 },
    },
    'a merge of accounts': {
      use: (token) => post(`${users}/oauth2/merge-confirm`, { merge_token: token, password }),
      known: {},
    },
    'a promotion': {
      use: (token) => createClient(target.url, token).send('POST', `${users}/promote`, { body: {} }),
      known: { user: 403, impersonated: 403, anonymous: 422, admin: 403 },
    },
    'a protected file': { use: (token) => target.guest.get(`${filePath}?token=${token}`), known: { file: 200 } },
    // Places that use up the token, or end others, come last.
    'a second factor': {
      use: (token) => post(`${users}/login/mfa`, { mfa_token: token, code: totpCode(secret, 1) }),
      known: { mfa: 200 },
    },
    'a magic link': { use: (token) => post(`${users}/otp/auth`, { token }), known: { link: 200 } },
    "an address's verification": {
      use: (token) => post(`${users}/verify-email`, { token }),
      known: { verification: 200 },
    },
    'an address change': {
      use: (token) => post(`${users}/confirm-email-change`, { token }),
      known: { change: 200 },
    },
    'a password reset': {
      use: (token) => post(`${users}/confirm-password-reset`, { token, password: `${password} two` }),
      known: { reset: 200 },
    },
    'the first admin': {
      use: (token) => post('/api/v1/admin/setup', { token, email: 'x@example.com', password }),
      known: Object.fromEntries(Object.keys(tokens).map((kind) => [kind, 409])),
    },
  };
  /** Places that neither use up a token nor end it. */
  const sessionPlaces = new Set(['the sessions of a user', 'the account of an admin', 'a refresh']);
  // The link is used before anything that would end it: it verifies the address, which ends all else that was mailed.
  const order = ['a protected file', 'a second factor', "an address's verification", 'a magic link'];
  for (const [place, { use, known }] of Object.entries(places)) {
    await t.test(`only the right kind works for ${place}`, async () => {
      for (const [kind, token] of Object.entries(tokens)) {
        const expected = known[kind as Kind];
        if (expected === 200 && !sessionPlaces.has(place)) continue;
        assert.equal(statusOf(await use(token)), expected ?? 401, `${kind} at ${place}`);
      }
    });
  }
  await t.test('refused uses leave the tokens usable', async () => {
    for (const place of order) {
      const { use, known } = places[place] ?? assert.fail(place);
      const [kind = 'user'] = Object.keys(known) as Kind[];
      assert.equal(statusOf(await use(tokens[kind])), 200, place);
    }
  });
});

onEachTopology('a forged or ambiguous token is refused', async (t, target) => {
  const targets = await prepareTargets(target);
  await using _ = targets.mail;
  const ann = await targets.register(`forged.${randomUUID()}@example.com`);
  const claims = { aud: 'admin', id: ann.id, email: ann.email };

  await t.test('a token signed with a public key or a guessed secret is refused [RFC 8725 §2.1]', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    for (const key of [pem, '', 'secret', '0'.repeat(32)]) {
      const token = await mint(key || ' ', claims);
      assert.equal(statusOf(await createClient(target.url, token).get('/api/v1/admin/me')), 401);
    }
  });

  await t.test('of two Authorization headers at most the first counts', async () => {
    const { email } = await targets.admin.post('/api/v1/admin/admins', {
      email: `two.${ann.id}@example.com`,
      password,
    });
    const root = textAt(await target.guest.post('/api/v1/admin/login', { email, password }, 200), 'token');
    const twice = await statusOfTwo(`${target.url}/api/v1/admin/me`, [`Bearer ${ann.token}`, `Bearer ${root}`]);
    assert.ok([400, 401, 403].includes(twice), `${twice}`);
    const listed = await statusOfTwo(`${target.url}/api/v1/admin/me`, [`Bearer ${ann.token}, Bearer ${root}`]);
    assert.equal(listed, 401);
  });

  await t.test("a client's internal headers are ignored", async () => {
    const internal = { 'x-recordbus-context': 'e30.AAAA', 'x-forwarded-user': 'root', 'x-user-id': ann.id };
    const answer = await target.guest.send('GET', '/api/v1/admin/me', { headers: internal });
    assert.equal(answer.status, 401);
  });
});

/** GETs with several Authorization headers. */
const statusOfTwo = (url: string, authorization: string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url, { headers: { Authorization: authorization }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });

onEachTopology(
  'when a one-time token is used several times at once, one use succeeds [auth §8.5]',
  async (t, target) => {
    const targets = await prepareTargets(target);
    await using _ = targets.mail;
    const { mail, post } = targets;
    const { email } = await targets.register(`many.${randomUUID()}@example.com`);
    const expectOneSuccess = async (use: (index: number) => Promise<Answer>) => {
      const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => use(index)));
      assert.deepEqual(statuses(answers), [200, 401, 401, 401, 401, 401]);
    };
    await t.test("an address's verification", async () => {
      const { token } = await mail.mailTo(email);
      await expectOneSuccess(() => post(`${users}/verify-email`, { token }));
    });
    await t.test('an address change', async () => {
      const { client } = await targets.register(`moving.${randomUUID()}@example.com`);
      const newEmail = `moved.${randomUUID()}@example.com`;
      await client.send('POST', `${users}/request-email-change`, { body: { email: newEmail, old_password: password } });
      const { token } = await mail.mailTo(newEmail);
      await expectOneSuccess(() => post(`${users}/confirm-email-change`, { token }));
    });
    await t.test('a password reset', async () => {
      await post(`${users}/request-password-reset`, { email });
      const { token } = await resetMailTo(mail, email);
      await expectOneSuccess((index) =>
        post(`${users}/confirm-password-reset`, { token, password: `${password} ${index}` }),
      );
    });
  },
);
