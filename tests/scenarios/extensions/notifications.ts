import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { TestContext } from 'node:test';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { accessToken, gone, type PushServer, phone } from '../../harness/servers/push-server.ts';
import { runScenarios } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';

const path = '/api/v1/admin/notifications/test';
const request = `POST ${path}`;
const body = { to: phone, title: 'Hello', body: 'from the bus' };
const spec = 'notifications §2';

/** Admins send test notifications through the providers that extensions use. */
export async function notifications(t: TestContext, target: Target, server: PushServer): Promise<void> {
  const begunAt = server.requests.length;
  const providers = 'notifications.providers';
  const onesignal = {
    'hooks.http.allow': '127.0.0.0/8',
    [`${providers}.onesignal.enabled`]: '1',
    [`${providers}.onesignal.app_id`]: server.appId,
    [`${providers}.onesignal.api_key`]: server.apiKey,
  };
  const account = JSON.parse(server.serviceAccount);
  const anotherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  const fcm = { [`${providers}.fcm.enabled`]: '1', [`${providers}.fcm.service_account`]: server.serviceAccount };
  const change = (name: string, settings: object) =>
    ({
      name,
      as: 'admin',
      request: 'PATCH /api/v1/admin/settings',
      body: settings,
      expect: { status: 200 },
      spec,
    }) as const;
  const send = (name: string, sent: object, expect: { status: number; json?: unknown }) =>
    ({ name, as: 'admin', request, body: { ...body, ...sent }, expect, spec }) as const;
  const outcome = (
    provider: string,
    ...results: { target: string; status: string; id?: string; error?: unknown }[]
  ) => {
    const sent = results.filter(({ status }) => status === 'sent').length;
    return { status: 200, json: { data: { provider, sent, failed: results.length - sent, results } } };
  };

  await runScenarios(t, target, [
    { name: 'a guest', request, body, expect: refused.unauthenticated, spec: 'http §6.2, §6.3' },
    { name: 'a user', as: 'user', request, body, expect: refused.forbidden, spec: 'http §6.2, §6.3' },
    send('without an enabled provider', {}, refused.invalid('provider')),
    send('missing members', { title: '', to: [] }, refused.invalid('title', 'to')),
    send('an unknown member', { colour: 'red' }, refused.invalid('colour')),
    send('data with a number', { data: { count: 5 } }, refused.invalid('data.count')),
    send('a message that is too large', { body: 'x'.repeat(4000) }, refused.invalid('body')),
    change('OneSignal enabled', onesignal),
    send(
      'two targets, each with a result',
      { to: [phone, gone], data: { order: '7' } },
      {
        ...outcome(
          'onesignal',
          { target: phone, status: 'sent', id: 'message-1' },
          { target: gone, status: 'invalid', error: is.text },
        ),
      },
    ),
    change('OneSignal with another key', { [`${providers}.onesignal.api_key`]: 'another' }),
    send(
      'a target with the error of OneSignal',
      {},
      outcome('onesignal', { target: phone, status: 'failed', error: 'Access denied.' }),
    ),
    {
      ...change('an invalid service account', {
        [`${providers}.fcm.service_account`]: JSON.stringify({ ...account, private_key: 'lost' }),
      }),
      expect: refused.invalid(`${providers}.fcm.service_account`),
    },
    change('Firebase enabled as a second provider', fcm),
    send('no named provider, with two enabled', {}, refused.invalid('provider')),
    send(
      'two targets at Firebase, after a request for an access token',
      { provider: 'fcm', to: [phone, gone] },
      outcome(
        'fcm',
        { target: phone, status: 'sent', id: 'projects/shop/messages/1' },
        { target: gone, status: 'invalid', error: 'Requested entity was not found.' },
      ),
    ),
    change('Firebase with another project', { [`${providers}.fcm.project_id`]: 'other' }),
    send(
      'a target with the error of Firebase',
      { provider: 'fcm' },
      outcome('fcm', { target: phone, status: 'failed', error: 'The project is not there.' }),
    ),
    change('Firebase with another key', {
      [`${providers}.fcm.service_account`]: JSON.stringify({ ...account, private_key: anotherKey }),
    }),
    send(
      'a target with the error of the token endpoint',
      { provider: 'fcm' },
      outcome('fcm', {
        target: phone,
        status: 'failed',
        error: 'the service account got no access token: invalid_grant: Invalid JWT Signature.',
      }),
    ),
    change('Firebase with an unreachable token endpoint', {
      [`${providers}.fcm.service_account`]: JSON.stringify({ ...account, token_uri: 'http://127.0.0.1:1/token' }),
    }),
    send(
      'a target with the error of the connection',
      { provider: 'fcm' },
      outcome('fcm', { target: phone, status: 'failed', error: is.matching(/ECONNREFUSED/) }),
    ),
    change('the egress filter without exceptions', { 'hooks.http.allow': '' }),
    send(
      'a target that the egress filter blocks',
      { provider: 'fcm' },
      outcome('fcm', { target: phone, status: 'failed', error: is.matching(/^egress blocked:/) }),
    ),
  ]);

  await t.test('neither the audit nor the log has a secret', async () => {
    const admin = await target.admin();
    const written = [(await admin.get('/api/v1/admin/audit?perPage=1000')).text, ...target.logLines].join('\n');
    const keyLine = account.private_key.split('\n')[1];
    for (const secret of [server.apiKey, keyLine, accessToken]) assert.ok(!written.includes(secret));
  });

  await t.test('the providers receive these requests [notifications §2.4]', () => {
    const { to: _, ...message } = body;
    assert.deepEqual(
      server.requests.slice(begunAt).map(({ provider, json }) => ({ provider, ...json, idempotency_key: undefined })),
      [
        {
          provider: 'onesignal',
          app_id: server.appId,
          target_channel: 'push',
          include_subscription_ids: [phone, gone],
          headings: { en: message.title },
          contents: { en: message.body },
          data: { order: '7' },
          idempotency_key: undefined,
        },
        ...[phone, gone].map((token) => ({
          provider: 'fcm',
          message: { token, notification: message },
          idempotency_key: undefined,
        })),
      ],
    );
  });

  const settings = [
    'onesignal.enabled',
    'onesignal.app_id',
    'onesignal.api_key',
    'fcm.enabled',
    'fcm.service_account',
    'fcm.project_id',
  ];
  await (await target.admin()).patch(
    '/api/v1/admin/settings',
    Object.fromEntries(settings.map((name) => [`${providers}.${name}`, ''])),
  );
}
