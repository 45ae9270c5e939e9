import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import type { EgressRequestOptions, EgressResponse } from '@recordbus/egress';
import { EgressFailedError } from '@recordbus/egress';
import { fixedSettings } from '@recordbus/settings/testing';
import { AppError } from '@recordbus/shared/errors';
import { createNotifier } from './notifier.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const serviceAccount = JSON.stringify({
  type: 'service_account',
  project_id: 'own-project',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  client_email: 'push@own-project.iam.gserviceaccount.com',
  token_uri: 'https://tokens.example/token',
});
const onesignal = {
  'notifications.providers.onesignal.enabled': '1',
  'notifications.providers.onesignal.app_id': '0f8fad5b-d9cb-469f-a165-70867728950e',
  'notifications.providers.onesignal.api_key': 'key-of-the-app',
};
const fcm = {
  'notifications.providers.fcm.enabled': '1',
  'notifications.providers.fcm.service_account': serviceAccount,
};

/** An answer of a provider: status, body and headers; or an error for none. */
type Answer = readonly [number, unknown, Record<string, string>?] | Error;

/** A notifier before providers that give these answers, the last of them for ever; tokens are always given. */
function beside(settings: Record<string, string>, ...answers: Answer[]) {
  const asked: { url: string; body: string; headers: ReadonlyMap<string, string> }[] = [];
  const waits: number[] = [];
  let nowMs = 1_800_000_000_000;
  const reply = ([status, body, headers = {}]: Exclude<Answer, Error>): EgressResponse => ({
    status,
    headers,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    truncated: false,
  });
  const notifier = createNotifier({
    settings: fixedSettings(settings),
    urls: { onesignalUrl: 'https://onesignal.example/', fcmUrl: 'https://fcm.example' },
    clock: () => nowMs,
    async wait(ms) {
      waits.push(ms);
      nowMs += ms;
    },
    client: {
      async request(url, { body = '', headers = [] }: EgressRequestOptions) {
        asked.push({ url: String(url), body: String(body), headers: new Map(headers) });
        if (String(url).startsWith('https://tokens.')) return reply([200, { access_token: 'at', expires_in: 3600 }]);
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        if (!answer) throw new Error('nothing was to be asked');
        if (answer instanceof Error) throw answer;
        return reply(answer);
      },
    },
  });
  const later = (ms: number) => {
    nowMs += ms;
  };
  return { notifier, asked, waits, later };
}

const message = { title: 'Hello', body: 'from the bus' };
const sent: Answer = [200, { name: 'projects/own-project/messages/1' }];

describe('sending by Firebase', () => {
  const error = (status: number, words: string, errorCode?: string): Answer => [
    status,
    { error: { code: status, message: words, details: [{ '@type': 'x' }, ...(errorCode ? [{ errorCode }] : [])] } },
  ];
  const outcomes: [string, Answer, 'sent' | 'invalid' | 'failed', RegExp?][] = [
    ['a message that was taken', sent, 'sent'],
    ['an app that is gone', error(404, 'Requested entity was not found.', 'UNREGISTERED'), 'invalid', /not found/],
    ['a token of another sender', error(403, 'SenderId mismatch', 'SENDER_ID_MISMATCH'), 'invalid', /mismatch/],
    [
      'what is no token',
      error(400, 'The registration token is not a valid FCM registration token', 'INVALID_ARGUMENT'),
      'invalid',
      /not a valid/,
    ],
    ['a message that is not right', error(400, 'Invalid value at data[0]', 'INVALID_ARGUMENT'), 'failed', /data\[0\]/],
    ['a project that is not ours', error(403, 'Permission denied'), 'failed', /Permission denied/],
    ['HTML', [502, '<h1>Bad gateway</h1>'], 'failed', /^Firebase answered 502$/],
    ['no connection', new EgressFailedError('connect ECONNREFUSED', 'ECONNREFUSED'), 'failed', /ECONNREFUSED/],
    ['silence', new EgressFailedError('timeout after 10000 ms', 'EGRESS_TIMEOUT'), 'failed', /timeout/],
  ];
  for (const [what, answer, status, words = /^$/] of outcomes)
    it(`reports ${what} as ${status}`, async () => {
      const { notifier } = beside(fcm, answer);
      const { results, ...counts } = await notifier.send({ to: 'device', ...message });
      assert.deepEqual(counts, { provider: 'fcm', sent: status === 'sent' ? 1 : 0, failed: status === 'sent' ? 0 : 1 });
      assert.equal(results[0]?.status, status);
      assert.match(results[0]?.error ?? '', words);
    });

  it('asks for one access token, and for another before it ends', async () => {
    const { notifier, asked, later } = beside(fcm, sent);
    const tokensAsked = () => asked.filter(({ url }) => url.startsWith('https://tokens.')).length;
    const to = Array.from({ length: 40 }, (_, index) => `device ${index}`);
    assert.equal((await notifier.send({ to, ...message })).sent, 40);
    await notifier.send({ to: 'device', ...message });
    assert.equal(tokensAsked(), 1);
    later(3_400_000);
    await notifier.send({ to: 'device', ...message });
    assert.equal(tokensAsked(), 2);
  });

  it('asks for another token when this one is refused, once', async () => {
    const { notifier, asked } = beside(fcm, [401, {}], sent);
    assert.equal((await notifier.send({ to: 'device', ...message })).sent, 1);
    assert.equal(asked.filter(({ url }) => url.startsWith('https://tokens.')).length, 2);
    const refused = beside(fcm, [401, {}]);
    assert.equal((await refused.notifier.send({ to: 'device', ...message })).failed, 1);
    assert.equal(refused.asked.length, 4);
  });

  it('sends to the project of the setting, else to that of the service account', async () => {
    const own = beside(fcm, sent);
    await own.notifier.send({ to: 'device', ...message });
    assert.equal(own.asked[1]?.url, 'https://fcm.example/v1/projects/own-project/messages:send');
    const other = beside({ ...fcm, 'notifications.providers.fcm.project_id': 'other' }, sent);
    await other.notifier.send({ to: 'device', ...message });
    assert.equal(other.asked[1]?.url, 'https://fcm.example/v1/projects/other/messages:send');
  });
});

describe('sending by OneSignal', () => {
  const outcomes: [string, Answer, string[], RegExp?][] = [
    ['a message that was taken', [200, { id: 'm1', external_id: null }], ['sent', 'sent']],
    [
      'targets that are not subscribed',
      [200, { id: 'm1', errors: { invalid_player_ids: ['b'] } }],
      ['sent', 'invalid'],
    ],
    ['none subscribed', [200, { id: '', errors: ['All included players are not subscribed'] }], ['invalid', 'invalid']],
    ['a wrong key', [403, { errors: ['Access denied.'] }], ['failed', 'failed'], /Access denied/],
    ['HTML', [200, '<html>'], ['failed', 'failed'], /^OneSignal answered 200$/],
    ['no connection', new EgressFailedError('connect ECONNREFUSED', 'ECONNREFUSED'), ['failed', 'failed'], /REFUSED/],
  ];
  for (const [what, answer, statuses, words = /^/] of outcomes)
    it(`reports ${what} as ${statuses}`, async () => {
      const { notifier } = beside(onesignal, answer);
      const { results } = await notifier.send({ to: ['a', 'b', 'a'], ...message });
      assert.deepEqual(
        results.map(({ target, status }) => [target, status]),
        [
          ['a', statuses[0]],
          ['b', statuses[1]],
        ],
      );
      assert.match(results[1]?.error ?? '', words);
    });

  it('sends again with the same key, so that it is taken once', async () => {
    const { notifier, asked, waits } = beside(
      onesignal,
      [503, ''],
      [429, '', { 'retry-after': '7' }],
      [200, { id: 'm' }],
    );
    assert.equal((await notifier.send({ to: 'a', ...message })).sent, 1);
    assert.equal(new Set(asked.map(({ body }) => body)).size, 1);
    assert.equal(asked.length, 3);
    assert.equal(waits[1], 7000);
  });

  it('does not wait longer than its caller can', async () => {
    const { notifier, asked } = beside(onesignal, [429, { errors: ['Rate limit'] }, { 'retry-after': '3600' }]);
    assert.equal((await notifier.send({ to: 'a', ...message })).results[0]?.error, 'Rate limit');
    assert.equal(asked.length, 1);
    const busy = beside(onesignal, [503, '']);
    await busy.notifier.send({ to: 'a', ...message });
    assert.equal(busy.asked.length, 4);
  });
});

describe('which provider sends', () => {
  const rows: [string, Record<string, string>, 'onesignal' | 'fcm' | undefined, string][] = [
    ['none is enabled', {}, undefined, 'no provider is enabled'],
    ['the one asked for is not', onesignal, 'fcm', 'fcm is not enabled'],
    [
      'it lacks its key',
      { ...onesignal, 'notifications.providers.onesignal.api_key': '' },
      undefined,
      'no provider is enabled',
    ],
    ['both are and none is named', { ...onesignal, ...fcm }, undefined, 'is required while more than one is enabled'],
  ];
  for (const [what, settings, provider, problem] of rows)
    it(`is refused when ${what}`, async () => {
      const { notifier } = beside(settings);
      const sending = notifier.send({ to: 'a', ...message, ...(provider && { provider }) });
      await assert.rejects(sending, (error) => {
        assert.ok(error instanceof AppError);
        assert.deepEqual(error.details, { provider: problem });
        return error.status === 422;
      });
    });
});
