import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EgressFailedError } from '@recordbus/egress';
import { jwtVerify } from 'jose';
import { type Answer, beside, fcm, publicKey } from './test-providers.ts';

const message = { title: 'Hello', body: 'from the bus' };
const sent: Answer = [200, { name: 'projects/own-project/messages/1' }];
const devices = (count: number) => Array.from({ length: count }, (_, index) => `device ${index}`);

/** A refusal as google.rpc.Status has it, with Firebase's own code and the fields that are wrong. */
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

describe('sending by Firebase', () => {
  const outcomes: [string, Answer, 'sent' | 'invalid' | 'failed', RegExp?][] = [
    ['a message that was taken', sent, 'sent'],
    [
      'an app that is gone',
      refusal(404, 'NOT_FOUND', 'Requested entity was not found.', 'UNREGISTERED'),
      'invalid',
      /not found/,
    ],
    [
      'a project that is not there',
      refusal(404, 'NOT_FOUND', 'Requested entity was not found.'),
      'failed',
      /not found/,
    ],
    [
      'what is no token',
      invalid('The registration token is not a valid FCM registration token', 'INVALID_ARGUMENT'),
      'invalid',
      /not a valid/,
    ],
    ['what is no token, by its field', invalid('Invalid value', undefined, 'message.token'), 'invalid', /Invalid/],
    ['a message that is not right', invalid('Invalid value', undefined, 'message.data[0].key'), 'failed', /Invalid/],
    ['a message that is too big', invalid('Android message is too big', 'INVALID_ARGUMENT'), 'failed', /too big/],
    [
      'a token of another sender',
      refusal(403, 'PERMISSION_DENIED', 'SenderId mismatch', 'SENDER_ID_MISMATCH'),
      'failed',
      /mismatch/,
    ],
    ['a project that is not ours', refusal(403, 'PERMISSION_DENIED', 'Permission denied'), 'failed', /denied/],
    [
      'a certificate that is missing',
      refusal(401, 'UNAUTHENTICATED', 'Auth error from APNS', 'THIRD_PARTY_AUTH_ERROR'),
      'failed',
      /APNS/,
    ],
    [
      'a quota that is used up',
      refusal(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', 'QUOTA_EXCEEDED'),
      'failed',
      /Quota exceeded/,
    ],
    ['Firebase away', refusal(503, 'UNAVAILABLE', 'Try again', 'UNAVAILABLE'), 'failed', /Try again/],
    ['an error of its own', refusal(500, 'INTERNAL', 'Internal error', 'INTERNAL'), 'failed', /Internal error/],
    [
      'details of another shape',
      [400, { error: { message: 'odd', details: [null, 'x', { errorCode: 7 }] } }],
      'failed',
      /odd/,
    ],
    ['HTML', [502, '<h1>Bad gateway</h1>'], 'failed', /^Firebase answered 502$/],
    ['no connection', new EgressFailedError('connect ECONNREFUSED', 'ECONNREFUSED'), 'failed', /ECONNREFUSED/],
    ['silence', new EgressFailedError('timeout after 10000 ms', 'EGRESS_TIMEOUT'), 'failed', /timeout/],
  ];
  for (const [what, answer, status, words = /^$/] of outcomes)
    it(`reports ${what} as ${status}`, async () => {
      const { notifier } = beside(fcm, { answers: [answer] });
      const { results, ...counts } = await notifier.send({ to: 'device', ...message });
      assert.deepEqual(counts, { provider: 'fcm', sent: status === 'sent' ? 1 : 0, failed: status === 'sent' ? 0 : 1 });
      assert.equal(results[0]?.status, status);
      assert.match(results[0]?.error ?? '', words);
    });

  it('sends title, body and data', async () => {
    const { notifier, asked } = beside(fcm, { answers: [sent] });
    await notifier.send({ to: 'device', ...message, data: { order: '7' } });
    assert.deepEqual(JSON.parse(asked[0]?.body ?? ''), {
      message: { token: 'device', notification: message, data: { order: '7' } },
    });
    assert.equal(asked[0]?.headers.get('Authorization'), 'Bearer token 1');
  });

  it('sends to the project of the setting, else to that of the service account', async () => {
    const own = beside(fcm, { answers: [sent] });
    await own.notifier.send({ to: 'device', ...message });
    assert.equal(own.asked[0]?.url, 'https://fcm.example/v1/projects/own-project/messages:send');
    const other = beside({ ...fcm, 'notifications.providers.fcm.project_id': 'other' }, { answers: [sent] });
    await other.notifier.send({ to: 'device', ...message });
    assert.equal(other.asked[0]?.url, 'https://fcm.example/v1/projects/other/messages:send');
  });

  it('has 32 requests under way for many targets, and a result for each in their order', async () => {
    const { notifier, mostUnderWay } = beside(fcm, {
      answers: ({ body }) => (body.includes('"device 7"') ? invalid('x', undefined, 'message.token') : sent),
    });
    const { results, ...counts } = await notifier.send({ to: devices(500), ...message });
    assert.deepEqual(counts, { provider: 'fcm', sent: 499, failed: 1 });
    assert.deepEqual(
      results.map(({ target }) => target),
      devices(500),
    );
    assert.equal(results[7]?.status, 'invalid');
    assert.equal(mostUnderWay(), 32);
  });

  it('tries again what it was too busy for, and no more once the time of the call is over', async () => {
    const busy = refusal(503, 'UNAVAILABLE', 'Try again', 'UNAVAILABLE');
    const { notifier, asked } = beside(fcm, { answers: (_asked, n) => (n === 1 ? busy : sent) });
    assert.equal((await notifier.send({ to: 'device', ...message })).sent, 1);
    assert.equal(asked.length, 2);
    const slow = beside(fcm, { answers: [sent], tookMs: 500 });
    const { results, ...counts } = await slow.notifier.send({ to: devices(1000), ...message });
    assert.ok(counts.sent > 0 && counts.failed > 0);
    assert.equal(slow.asked.length, counts.sent);
    assert.equal(results.at(-1)?.error, 'no time was left for it');
  });
});

describe('the access token', () => {
  it('is asked for with an assertion that the service account signed', async () => {
    const { notifier, assertions } = beside(fcm, { answers: [sent] });
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

  it('is one for all who ask at once, and another before it ends', async () => {
    const { notifier, assertions, later } = beside(fcm, { answers: [sent] });
    const sending = [1, 2, 3].map(() => notifier.send({ to: devices(40), ...message }));
    assert.deepEqual(
      (await Promise.all(sending)).map((one) => one.sent),
      [40, 40, 40],
    );
    assert.equal(assertions.length, 1);
    later(3_290_000);
    await notifier.send({ to: 'device', ...message });
    assert.equal(assertions.length, 1);
    later(20_000);
    await notifier.send({ to: 'device', ...message });
    assert.equal(assertions.length, 2);
  });

  for (const lifeSec of [60, 1, 0])
    it(`is used for half of a life of ${lifeSec} s`, async () => {
      const tokens = (n: number): Answer => [200, { access_token: `token ${n}`, expires_in: lifeSec }];
      const { notifier, assertions, later } = beside(fcm, { answers: [sent], tokens });
      assert.equal((await notifier.send({ to: devices(40), ...message })).sent, 40);
      assert.equal(assertions.length, 1);
      later(lifeSec * 500 + 1000);
      await notifier.send({ to: 'device', ...message });
      assert.equal(assertions.length, 2);
    });

  it('is asked for anew when it is refused, once for all targets', async () => {
    const outdated = beside(fcm, {
      answers: ({ headers }) => (headers.get('Authorization') === 'Bearer token 1' ? [401, {}] : sent),
    });
    assert.equal((await outdated.notifier.send({ to: devices(100), ...message })).sent, 100);
    assert.equal(outdated.assertions.length, 2);
    const refused = beside(fcm, { answers: [refusal(401, 'UNAUTHENTICATED', 'Invalid credentials')] });
    const { failed, results } = await refused.notifier.send({ to: devices(100), ...message });
    assert.deepEqual([failed, results[99]?.error], [100, 'Invalid credentials']);
    assert.equal(refused.assertions.length, 2);
  });

  it('is not asked for anew when it is a certificate that is missing', async () => {
    const missing = refusal(401, 'UNAUTHENTICATED', 'Auth error from APNS', 'THIRD_PARTY_AUTH_ERROR');
    const { notifier, assertions, asked } = beside(fcm, { answers: [missing] });
    await notifier.send({ to: devices(10), ...message });
    assert.deepEqual([assertions.length, asked.length], [1, 10]);
  });

  const failures: [string, Answer, RegExp][] = [
    [
      'a key that was removed',
      [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }],
      /^the service account got no access token: invalid_grant: Invalid JWT Signature\.$/,
    ],
    [
      'a clock that is wrong',
      [400, { error: 'invalid_grant', error_description: 'Invalid JWT: Check your iat and exp values' }],
      /iat and exp/,
    ],
    ['an error without words', [403, ''], /^the service account got no access token: status 403$/],
    ['an answer without a token', [200, {}], /no access token: status 200/],
    ['no connection', new EgressFailedError('connect ECONNREFUSED', 'ECONNREFUSED'), /ECONNREFUSED/],
  ];
  for (const [what, answer, words] of failures)
    it(`is not given for ${what}: no target is tried, and the next call asks again`, async () => {
      const { notifier, asked } = beside(fcm, {
        answers: [sent],
        tokens: (n) => (n <= 4 ? answer : [200, { access_token: 'x' }]),
      });
      const { failed, results } = await notifier.send({ to: devices(3), ...message });
      assert.deepEqual([failed, asked.length], [3, 0]);
      assert.match(results[2]?.error ?? '', words);
      const again = async () => (await notifier.send({ to: 'device', ...message })).sent;
      for (let tries = 0; tries < 5 && (await again()) === 0; tries += 1);
      assert.equal(await again(), 1);
    });
});
