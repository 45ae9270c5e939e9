import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EgressFailedError } from '@recordbus/egress';
import { jwtVerify } from 'jose';
import { type Answer, fcm, publicKey, startNotifier } from './test-providers.ts';

const message = { title: 'Hello', body: 'from the bus' };
const sent: Answer = [200, { name: 'projects/own-project/messages/1' }];
const devices = (count: number) => Array.from({ length: count }, (_, index) => `device ${index}`);

/** A refusal as google.rpc.Status, with Firebase's own code and the wrong field. */
const refusal = (code: number, status: string, words: string, errorCode?: string, field?: string): Answer => [
  code,
  {
    error: {
      code,
      status,
      message: words,
      details: [
        ...(errorCode ? [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }] : []),
        ...(field ? [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field }] }] : []),
      ],
    },
  },
];
const invalid = (words: string, errorCode?: string, field?: string) =>
  refusal(400, 'INVALID_ARGUMENT', words, errorCode, field);

describe('sending with Firebase [notifications §2]', () => {
  const outcomes: [string, Answer, 'sent' | 'invalid' | 'failed', RegExp?][] = [
    ['a message that Firebase accepted', sent, 'sent'],
    [
      'a removed registration',
      refusal(404, 'NOT_FOUND', 'Requested entity was not found.', 'UNREGISTERED'),
      'invalid',
      /not found/,
    ],
    [
      'a project that does not exist',
      refusal(404, 'NOT_FOUND', 'Requested entity was not found.'),
      'failed',
      /not found/,
    ],
    [
      'an invalid token',
      invalid('The registration token is not a valid FCM registration token', 'INVALID_ARGUMENT'),
      'invalid',
      /not a valid/,
    ],
    ['an invalid token, by the field', invalid('Invalid value', undefined, 'message.token'), 'invalid', /Invalid/],
    ['a wrong message', invalid('Invalid value', undefined, 'message.data[0].key'), 'failed', /Invalid/],
    ['a message that is too big', invalid('Android message is too big', 'INVALID_ARGUMENT'), 'failed', /too big/],
    [
      'a token of another sender',
      refusal(403, 'PERMISSION_DENIED', 'SenderId mismatch', 'SENDER_ID_MISMATCH'),
      'failed',
      /mismatch/,
    ],
    ['a project of another owner', refusal(403, 'PERMISSION_DENIED', 'Permission denied'), 'failed', /denied/],
    [
      'a missing certificate',
      refusal(401, 'UNAUTHENTICATED', 'Auth error from APNS', 'THIRD_PARTY_AUTH_ERROR'),
      'failed',
      /APNS/,
    ],
    [
      'an exceeded quota',
      refusal(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', 'QUOTA_EXCEEDED'),
      'failed',
      /Quota exceeded/,
    ],
    ['an unavailable Firebase', refusal(503, 'UNAVAILABLE', 'Try again', 'UNAVAILABLE'), 'failed', /Try again/],
    [
      'an internal error of Firebase',
      refusal(500, 'INTERNAL', 'Internal error', 'INTERNAL'),
      'failed',
      /Internal error/,
    ],
    [
      'details of another shape',
      [400, { error: { message: 'odd', details: [null, 'x', { errorCode: 7 }] } }],
      'failed',
      /odd/,
    ],
    ['HTML', [502, '<h1>Bad gateway</h1>'], 'failed', /^Firebase answered 502$/],
    ['no connection', new EgressFailedError('connect ECONNREFUSED', 'ECONNREFUSED'), 'failed', /ECONNREFUSED/],
    ['a timeout', new EgressFailedError('timeout after 10000 ms', 'EGRESS_TIMEOUT'), 'failed', /timeout/],
  ];
  for (const [what, answer, status, words = /^$/] of outcomes)
    it(`reports ${what} as ${status}`, async () => {
      const { notifier } = startNotifier(fcm, { answers: [answer] });
      const { results, ...counts } = await notifier.send({ to: 'device', ...message });
      assert.deepEqual(counts, { provider: 'fcm', sent: status === 'sent' ? 1 : 0, failed: status === 'sent' ? 0 : 1 });
      assert.equal(results[0]?.status, status);
      assert.match(results[0]?.error ?? '', words);
    });

  it('sends title, body and data', async () => {
    const { notifier, requests } = startNotifier(fcm, { answers: [sent] });
    await notifier.send({ to: 'device', ...message, data: { order: '7' } });
    assert.deepEqual(JSON.parse(requests[0]?.body ?? ''), {
      message: { token: 'device', notification: message, data: { order: '7' } },
    });
    assert.equal(requests[0]?.headers.get('Authorization'), 'Bearer token 1');
  });

  it("sends to the setting's project, else to the service account's", async () => {
    const own = startNotifier(fcm, { answers: [sent] });
    await own.notifier.send({ to: 'device', ...message });
    assert.equal(own.requests[0]?.url, 'https://fcm.example/v1/projects/own-project/messages:send');
    const other = startNotifier({ ...fcm, 'notifications.providers.fcm.project_id': 'other' }, { answers: [sent] });
    await other.notifier.send({ to: 'device', ...message });
    assert.equal(other.requests[0]?.url, 'https://fcm.example/v1/projects/other/messages:send');
  });

  it('runs 32 requests at once for many targets, and returns their results in order', async () => {
    const { notifier, peakConcurrency } = startNotifier(fcm, {
      answers: ({ body }) => (body.includes('"device 7"') ? invalid('x', undefined, 'message.token') : sent),
    });
    const { results, ...counts } = await notifier.send({ to: devices(500), ...message });
    assert.deepEqual(counts, { provider: 'fcm', sent: 499, failed: 1 });
    assert.deepEqual(
      results.map(({ target }) => target),
      devices(500),
    );
    assert.equal(results[7]?.status, 'invalid');
    assert.equal(peakConcurrency(), 32);
  });

  it("repeats a request while Firebase is busy, until the call's time is over", async () => {
    const busy = refusal(503, 'UNAVAILABLE', 'Try again', 'UNAVAILABLE');
    const { notifier, requests } = startNotifier(fcm, { answers: (_request, n) => (n === 1 ? busy : sent) });
    assert.equal((await notifier.send({ to: 'device', ...message })).sent, 1);
    assert.equal(requests.length, 2);
    const slow = startNotifier(fcm, { answers: [sent], requestMs: 500 });
    const { results, ...counts } = await slow.notifier.send({ to: devices(1000), ...message });
    assert.ok(counts.sent > 0 && counts.failed > 0);
    assert.equal(slow.requests.length, counts.sent);
    assert.equal(results.at(-1)?.error, 'no time was left for the request');
  });
});

describe('the access token', () => {
  it('is requested with an assertion that the service account signed', async () => {
    const { notifier, assertions } = startNotifier(fcm, { answers: [sent] });
    await notifier.send({ to: 'device', ...message });
    const { payload, protectedHeader } = await jwtVerify(assertions[0] ?? '', publicKey, {
      currentDate: new Date(1_800_000_000_000),
    });
    assert.deepEqual(protectedHeader, { alg: 'RS256', typ: 'JWT', kid: 'key 1' });
    assert.deepEqual(payload, {
      iss: 'push@own-project.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
      aud: 'https://tokens.example/token',
      iat: 1_800_000_000,
      exp: 1_800_003_600,
    });
  });

  it('is shared by parallel calls and replaced before it expires', async () => {
    const { notifier, assertions, advance } = startNotifier(fcm, { answers: [sent] });
    const sending = [1, 2, 3].map(() => notifier.send({ to: devices(40), ...message }));
    assert.deepEqual(
      (await Promise.all(sending)).map((one) => one.sent),
      [40, 40, 40],
    );
    assert.equal(assertions.length, 1);
    advance(3_290_000);
    await notifier.send({ to: 'device', ...message });
    assert.equal(assertions.length, 1);
    advance(20_000);
    await notifier.send({ to: 'device', ...message });
    assert.equal(assertions.length, 2);
  });

  for (const lifeSec of [60, 1, 0])
    it(`is used for half its lifetime (${lifeSec} s)`, async () => {
      const tokens = (n: number): Answer => [200, { access_token: `token ${n}`, expires_in: lifeSec }];
      const { notifier, assertions, advance } = startNotifier(fcm, { answers: [sent], tokens });
      assert.equal((await notifier.send({ to: devices(40), ...message })).sent, 40);
      assert.equal(assertions.length, 1);
      advance(lifeSec * 500 + 1000);
      await notifier.send({ to: 'device', ...message });
      assert.equal(assertions.length, 2);
    });

  it('is replaced once for all targets when Firebase refuses it', async () => {
    const outdated = startNotifier(fcm, {
      answers: ({ headers }) => (headers.get('Authorization') === 'Bearer token 1' ? [401, {}] : sent),
    });
    assert.equal((await outdated.notifier.send({ to: devices(100), ...message })).sent, 100);
    assert.equal(outdated.assertions.length, 2);
    const refused = startNotifier(fcm, { answers: [refusal(401, 'UNAUTHENTICATED', 'Invalid credentials')] });
    const { failed, results } = await refused.notifier.send({ to: devices(100), ...message });
    assert.deepEqual([failed, results[99]?.error], [100, 'Invalid credentials']);
    assert.equal(refused.assertions.length, 2);
  });

  it('is not replaced when a certificate is missing', async () => {
    const missing = refusal(401, 'UNAUTHENTICATED', 'Auth error from APNS', 'THIRD_PARTY_AUTH_ERROR');
    const { notifier, assertions, requests } = startNotifier(fcm, { answers: [missing] });
    await notifier.send({ to: devices(10), ...message });
    assert.deepEqual([assertions.length, requests.length], [1, 10]);
  });

  const failures: [string, Answer, RegExp][] = [
    [
      'a key that was removed',
      [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }],
      /^the service account got no access token: invalid_grant: Invalid JWT Signature\.$/,
    ],
    [
      'a wrong clock',
      [400, { error: 'invalid_grant', error_description: 'Invalid JWT: Check your iat and exp values' }],
      /iat and exp/,
    ],
    ['an error without details', [403, ''], /^the service account got no access token: status 403$/],
    ['an answer without a token', [200, {}], /no access token: status 200/],
    ['no connection', new EgressFailedError('connect ECONNREFUSED', 'ECONNREFUSED'), /ECONNREFUSED/],
  ];
  for (const [what, answer, words] of failures)
    it(`is missing after ${what}: no target is tried, and the next call requests another one`, async () => {
      const { notifier, requests } = startNotifier(fcm, {
        answers: [sent],
        tokens: (n) => (n <= 4 ? answer : [200, { access_token: 'x' }]),
      });
      const { failed, results } = await notifier.send({ to: devices(3), ...message });
      assert.deepEqual([failed, requests.length], [3, 0]);
      assert.match(results[2]?.error ?? '', words);
      const again = async () => (await notifier.send({ to: 'device', ...message })).sent;
      for (let tries = 0; tries < 5 && (await again()) === 0; tries += 1);
      assert.equal(await again(), 1);
    });
});
