import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { type Answer, type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { type MailServer, startMailServer } from '../harness/mail-server.ts';
import { multipart } from '../harness/multipart.ts';
import { onEachTopology, type Target } from '../harness/target.ts';
import { mint } from '../harness/tokens.ts';
import { totpCode } from '../harness/totp.ts';

const password = 'a long and winding password';
const users = '/api/v1/auth/targets';
const appUrl = 'https://app.example.com';

const statusOf = ({ status }: Answer): number => status;
const statuses = (answers: readonly Answer[]): number[] => answers.map(statusOf).sort();

/** A collection with a protected file, mail, codes and anonymous users: everything that makes tokens. */
async function given(target: Target) {
  const admin = await target.admin();
  const mail = await startMailServer();
  const fields = [
    { name: 'paper', type: 'file', options: { protected: true } },
    { name: 'note', type: 'text' },
  ];
  await admin.send('POST', '/api/v1/collections', {
    body: { name: 'targets', type: 'auth', fields, view_rule: null },
  });
  const switches = { ...mail.settings, 'auth.otp.enabled': '1', 'auth.anonymous.enabled': '1' };
  await admin.patch('/api/v1/admin/settings', switches);
  await eventually('the settings count', async () => {
    const answers = await Promise.all([
      target.guest.send('POST', `${users}/anonymous`),
      target.guest.send('POST', `${users}/otp/request`, { body: { email: 'nobody@example.com' } }),
    ]);
    return statuses(answers).join() === '200,201';
  });
  const register = async (email: string) => {
    const session = await target.guest.post(`${users}/register`, { email, password });
    const token = textAt(session, 'token');
    return { email, token, id: textAt(session, 'record.id'), client: createClient(target.url, token) };
  };
  return { admin, mail, register, post: (path: string, body?: unknown) => target.guest.send('POST', path, { body }) };
}

type Ground = Awaited<ReturnType<typeof given>>;

/** A fresh token of every kind, all of one user but for the admin's and the anonymous user's. */
async function everyToken({ admin, mail, register, post }: Ground, target: Target) {
  const user = await register(`kinds.${randomUUID()}@example.com`);
  const { email, id, client } = user;
  const sent = async (asked: Promise<Answer>, to: string, subject?: string): Promise<string> => {
    assert.equal(statusOf(await asked), 200);
    return (
      (await mail.mailTo(to, subject === undefined ? {} : { subject })).token ?? assert.fail('a mail without a token')
    );
  };
  const verification = (await mail.mailTo(email)).token ?? assert.fail('no token');
  const reset = await sent(post(`${users}/request-password-reset`, { email }), email, 'Reset your password');
  const wanted = `wanted.${id}@example.com`;
  const change = await sent(
    client.send('POST', `${users}/request-email-change`, { body: { email: wanted, old_password: password } }),
    wanted,
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
  const begun = await target.guest.post(`${users}/login`, { email, password }, 200);
  const link = await sent(post(`${users}/otp/request`, { email }), email, 'Your sign-in code');
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
      mfa: textAt(begun, 'mfa_token'),
      link,
    },
  };
}

type Kind = keyof Awaited<ReturnType<typeof everyToken>>['tokens'];

onEachTopology('a token never works in place of another kind [auth §8.4]', async (t, target) => {
  const ground = await given(target);
  await using _ = ground.mail;
  const { tokens, filePath, secret } = await everyToken(ground, target);
  const { post } = ground;
  const asBearer = (path: string) => (token: string) => createClient(target.url, token).get(path);
  /** Each place that takes a token: what to do there, and what each kind that is at home there is answered. */
  const places: Record<string, { use: (token: string) => Promise<Answer>; home: Partial<Record<Kind, number>> }> = {
    'the session of a user': {
      use: asBearer(`${users}/sessions`),
      home: { user: 200, impersonated: 200, anonymous: 200, admin: 403 },
    },
    'the session of an admin': {
      use: asBearer('/api/v1/admin/me'),
      home: { user: 403, impersonated: 403, anonymous: 403, admin: 200 },
    },
    'the session that is refreshed': {
      use: (token) => createClient(target.url, token).send('POST', '/api/v1/auth/refresh'),
      home: { user: 200, impersonated: 200, anonymous: 200, admin: 200 },
    },
    'a merge of accounts': {
      use: (token) => post(`${users}/oauth2/merge-confirm`, { merge_token: token, password }),
      home: {},
    },
    promotion: {
      use: (token) => createClient(target.url, token).send('POST', `${users}/promote`, { body: {} }),
      home: { user: 403, impersonated: 403, anonymous: 422, admin: 403 },
    },
    'a protected file': { use: (token) => target.guest.get(`${filePath}?token=${token}`), home: { file: 200 } },
    // What uses the token up, or ends the others, comes last.
    'a second factor': {
      use: (token) => post(`${users}/login/mfa`, { mfa_token: token, code: totpCode(secret, 1) }),
      home: { mfa: 200 },
    },
    'a magic link': { use: (token) => post(`${users}/otp/auth`, { token }), home: { link: 200 } },
    'the proof of an address': {
      use: (token) => post(`${users}/verify-email`, { token }),
      home: { verification: 200 },
    },
    'another address': { use: (token) => post(`${users}/confirm-email-change`, { token }), home: { change: 200 } },
    'a new password': {
      use: (token) => post(`${users}/confirm-password-reset`, { token, password: `${password} two` }),
      home: { reset: 200 },
    },
    'the first admin': {
      use: (token) => post('/api/v1/admin/setup', { token, email: 'x@example.com', password }),
      home: Object.fromEntries(Object.keys(tokens).map((kind) => [kind, 409])),
    },
  };
  // The link is used before what would end it: it proves the address, which drops whatever else was sent.
  const atHome = ['a protected file', 'a second factor', 'the proof of an address', 'a magic link'];
  for (const [place, { use, home }] of Object.entries(places)) {
    await t.test(`at ${place} only what is for it`, async () => {
      for (const [kind, token] of Object.entries(tokens)) {
        const expected = home[kind as Kind];
        if (expected === 200 && !place.startsWith('the session')) continue;
        assert.equal(statusOf(await use(token)), expected ?? 401, `${kind} at ${place}`);
      }
    });
  }
  await t.test('and all that was tried in vain used none of them up', async () => {
    for (const place of atHome) {
      const { use, home } = places[place] ?? assert.fail(place);
      const [kind = 'user'] = Object.keys(home) as Kind[];
      assert.equal(statusOf(await use(tokens[kind])), 200, place);
    }
  });
});

onEachTopology('what was forged, or is said twice, is no token', async (t, target) => {
  const ground = await given(target);
  await using _ = ground.mail;
  const ann = await ground.register(`forged.${randomUUID()}@example.com`);
  const claims = { aud: 'admin', id: ann.id, email: ann.email };

  await t.test(
    'a public key is no secret: nothing is read by an algorithm that the token names [RFC 8725 §2.1]',
    async () => {
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
      for (const key of [pem, '', 'secret', '0'.repeat(32)]) {
        const token = await mint(key || ' ', claims);
        assert.equal(statusOf(await createClient(target.url, token).get('/api/v1/admin/me')), 401);
      }
    },
  );

  await t.test('of two Authorization headers the first counts, or none', async () => {
    const { email } = await ground.admin.post('/api/v1/admin/admins', { email: `two.${ann.id}@example.com`, password });
    const root = textAt(await target.guest.post('/api/v1/admin/login', { email, password }, 200), 'token');
    const twice = await statusOfTwo(`${target.url}/api/v1/admin/me`, [`Bearer ${ann.token}`, `Bearer ${root}`]);
    assert.ok([400, 401, 403].includes(twice), `${twice}`);
    const listed = await statusOfTwo(`${target.url}/api/v1/admin/me`, [`Bearer ${ann.token}, Bearer ${root}`]);
    assert.equal(listed, 401);
  });

  await t.test('who calls is not said by headers of the inside', async () => {
    const inside = { 'x-recordbus-context': 'e30.AAAA', 'x-forwarded-user': 'root', 'x-user-id': ann.id };
    const answer = await target.guest.send('GET', '/api/v1/admin/me', { headers: inside });
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

onEachTopology('of concurrent uses of a one-time token one succeeds [auth §8.5]', async (t, target) => {
  const ground = await given(target);
  await using _ = ground.mail;
  const { mail, post } = ground;
  const { email } = await ground.register(`many.${randomUUID()}@example.com`);
  const wins = async (use: (index: number) => Promise<Answer>) => {
    const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => use(index)));
    assert.deepEqual(statuses(answers), [200, 401, 401, 401, 401, 401]);
  };
  await t.test('the proof of an address', async () => {
    const { token } = await mail.mailTo(email);
    await wins(() => post(`${users}/verify-email`, { token }));
  });
  await t.test('another address', async () => {
    const { client } = await ground.register(`moving.${randomUUID()}@example.com`);
    const wanted = `moved.${randomUUID()}@example.com`;
    await client.send('POST', `${users}/request-email-change`, { body: { email: wanted, old_password: password } });
    const { token } = await mail.mailTo(wanted);
    await wins(() => post(`${users}/confirm-email-change`, { token }));
  });
  await t.test('a new password', async () => {
    await post(`${users}/request-password-reset`, { email });
    const { token } = await mailOf(mail, email);
    await wins((index) => post(`${users}/confirm-password-reset`, { token, password: `${password} ${index}` }));
  });
});

onEachTopology('answers do not reveal which accounts exist [auth §4.1; identity §3.1]', async (t, target) => {
  const ground = await given(target);
  await using _ = ground.mail;
  const known = await ground.register(`known.${randomUUID()}@example.com`);
  const visitor = textAt(await target.guest.post(`${users}/anonymous`, undefined), 'record.email');
  const caller = await ground.register(`caller.${randomUUID()}@example.com`);
  const asked: [string, Client, (email: string) => object][] = [
    ['login', target.guest, (email) => ({ email, password: 'wrong' })],
    ['request-password-reset', target.guest, (email) => ({ email })],
    ['otp/request', target.guest, (email) => ({ email })],
    ['otp/auth', target.guest, (email) => ({ email, code: '000000' })],
    ['request-email-change', caller.client, (email) => ({ email, old_password: password })],
  ];
  const shown = ({ status, text, headers }: Answer) => {
    const { date, 'x-request-id': _, 'ratelimit-remaining': __, 'ratelimit-reset': ___, ...others } = headers;
    return { status, text, headers: others };
  };
  for (const [route, client, bodyOf] of asked)
    await t.test(route, async () => {
      const [first, ...rest] = await Promise.all(
        [known.email, `unknown.${randomUUID()}@example.com`, visitor].map(async (email) =>
          shown(await client.send('POST', `${users}/${route}`, { body: bodyOf(email) })),
        ),
      );
      for (const other of rest) assert.deepEqual(other, first);
    });
});

onEachTopology('nobody makes more of themselves than they may', async (t, target) => {
  const ground = await given(target);
  await using _ = ground.mail;
  const ann = await ground.register(`more.${randomUUID()}@example.com`);
  const path = `/api/v1/targets/${ann.id}`;

  await t.test('by members of a PATCH', async () => {
    for (const member of [
      'password_hash',
      'token_version',
      'totp_secret',
      'is_anonymous',
      'has_password',
      '__proto__',
    ]) {
      const rawBody = `{"note":"x",${JSON.stringify(member)}:"1"}`;
      const headers = { 'Content-Type': 'application/json' };
      const answer = await ann.client.send('PATCH', path, { rawBody, headers });
      assert.equal(answer.status, 422, `${member}: ${answer.text}`);
    }
    const ignored = { id: 'mine', anonymous: true, created: 1, updated: 1 };
    const { id, anonymous } = await ann.client.patch(path, ignored);
    assert.deepEqual([id, anonymous], [ann.id, false]);
  });

  await t.test('by an address that carries a header into the mail', async () => {
    for (const email of [
      'a@example.com\r\nBcc: b@example.com',
      'a@example.com\nSubject: x',
      'a@example.com, b@example.com',
    ]) {
      assert.equal(statusOf(await ground.post(`${users}/register`, { email, password })), 422);
      await ground.post(`${users}/request-password-reset`, { email });
    }
    assert.equal(ground.mail.received.filter(({ recipients }) => recipients.includes('b@example.com')).length, 0);
  });

  await t.test('by a Host that would lead links elsewhere', async () => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Origin: 'https://evil.example' };
    const body = { email: ann.email, redirect: 'https://evil.example', redirect_to: 'https://evil.example' };
    await target.guest.send('POST', `${users}/request-password-reset`, { body, headers });
    const { email } = await mailOf(ground.mail, ann.email);
    assert.ok(email.text?.includes(appUrl), email.text);
    assert.ok(!JSON.stringify(email).includes('evil.example'));
  });

  await t.test('by another address of theirs, where no proxy is trusted', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9', 'X-Real-IP': '203.0.113.9' };
    const body = { email: ann.email, password };
    const login = await target.guest.send('POST', `${users}/login`, { body, headers });
    const client = createClient(target.url, textAt(login.json, 'data.token'));
    const { json } = await client.get(`${users}/sessions`);
    const current = listAt(json, 'data').find((session) => session.current === true);
    assert.match(textAt(current, 'ip'), /^(127\.0\.0\.1|::1)$/);
  });
});

const mailOf = (mail: MailServer, address: string) => mail.mailTo(address, { subject: 'Reset your password' });

onEachTopology('no spelling of an address evades the lockout [auth §1.3, §4.2]', async (t, target) => {
  const ground = await given(target);
  await using _ = ground.mail;
  const tag = randomUUID().slice(0, 8);
  const { email } = await ground.register(`mia.kim.${tag}@example.com`);
  const login = (typed: string, tried: string) => ground.post(`${users}/login`, { email: typed, password: tried });
  await ground.admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '4' });
  await eventually('the lockout counts', async () => {
    const probe = `probe.${randomUUID()}@example.com`;
    for (let count = 0; count < 4; count += 1) await login(probe, 'x');
    return statusOf(await login(probe, 'x')) === 429;
  });
  await t.test('case, spaces, and letters that the database may take for one', async () => {
    const spellings = [
      email.toUpperCase(),
      ` ${email}\t`,
      email.replace('mia', 'mİa'),
      email.replace('kim', '\u212aim'),
    ];
    for (const spelling of spellings) assert.equal(statusOf(await login(spelling, 'wrong')), 401, spelling);
    for (const spelling of [email, ...spellings, `${email}\u00a0`])
      assert.equal(statusOf(await login(spelling, password)), 429, spelling);
  });
  await t.test('an address with a tag is another one', async () => {
    assert.equal(statusOf(await login(email.replace('@', '+1@'), 'wrong')), 401);
  });
  await ground.admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '0' });
});
