import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { allowLoopback } from '../../harness/clients/webhook.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { startMailServer } from '../../harness/servers/mail-server.ts';
import { gone, type PushServer, phone } from '../../harness/servers/push-server.ts';
import { startReceiver } from '../../harness/servers/receiver.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';

const spec = 'extensions §6';

export async function tools(t: TestContext, target: Target, push: PushServer): Promise<void> {
  const admin = await target.admin();
  await using receiver = await startReceiver();
  await allowLoopback(admin);
  const tool = (label: string, request: string, expect: Scenario['expect'], body?: object): Scenario => ({
    name: label,
    as: 'admin',
    request,
    ...(body && { body }),
    expect,
    spec,
  });
  const fetching = (label: string, body: object, expect: Scenario['expect']) =>
    tool(label, 'POST /api/x/tools/fetch', expect, body);
  const notify = (label: string, body: object, expect: Scenario['expect']) =>
    tool(label, 'POST /api/x/tools/notify', expect, body);
  const failed = (code: string) => ({ status: 502, json: { error: is.text, code } });
  await eventually('the service allows fetches from the receiver', async () => {
    const { status } = await admin.send('POST', '/api/x/tools/fetch', { body: { url: receiver.url } });
    return status === 200;
  });
  await runScenarios(t, target, [
    fetching('a fetch', { url: receiver.url }, { status: 200, json: { data: { status: 200, text: '' } } }),
    fetching('a fetch of an address that egress denies', { url: 'http://10.0.0.1/' }, failed('egress_blocked')),
    fetching('a fetch of an invalid URL', { url: 'nowhere' }, failed('fetch_failed')),
    fetching('a fetch with an invalid timeout', { url: receiver.url, timeoutMs: -1 }, refused.malformed),
    tool('a setting', 'GET /api/x/tools/settings/hooks.http.allow', { status: 200, json: { data: '127.0.0.0/8' } }),
    tool('a secret setting', 'GET /api/x/tools/settings/smtp.pass', refused.forbidden),
    tool('an unknown setting', 'GET /api/x/tools/settings/no.such', refused.notFound),
    tool('the environment', 'GET /api/x/tools/env', {
      status: 200,
      json: { data: { colour: 'green', secret: 'none' } },
    }),
    tool(
      'mail without a mail server',
      'POST /api/x/tools/mail',
      { status: 422, json: { error: is.text, code: 'mail_not_configured' } },
      { to: 'ada@example.com' },
    ),
    tool('values', 'GET /api/x/tools/kv', {
      status: 200,
      json: {
        data: { a: { deep: [1, 2] }, first: true, second: false, count: 3, b: null, keys: ['a', 'count', 'once'] },
      },
    }),
    notify('a notification without a provider', { to: [phone], title: 'Hello' }, refused.invalid('provider')),
    tool(
      'an enabled provider',
      'PATCH /api/v1/admin/settings',
      { status: 200 },
      {
        'notifications.providers.onesignal.enabled': '1',
        'notifications.providers.onesignal.app_id': push.appId,
        'notifications.providers.onesignal.api_key': push.apiKey,
      },
    ),
    notify('a notification without a title', { to: [phone], title: '' }, refused.invalid('title')),
    tool('a value that is too large', 'GET /api/x/tools/big', refused.invalid('value')),
  ]);
  await t.test('a notification has a result for each target [notifications §2.3]', async () => {
    const sent = await eventually('the provider is known', async () => {
      const answer = await admin.send('POST', '/api/x/tools/notify', {
        body: { to: [phone, gone], title: 'Hello' },
      });
      return answer.status === 200 ? answer : undefined;
    });
    assert.deepEqual(
      listAt(sent.json, 'data.results').map(({ target, status }) => [target, status]),
      [
        [phone, 'sent'],
        [gone, 'invalid'],
      ],
    );
  });
  await t.test('a mail is sent unchanged [extensions §6.4]', async () => {
    await using server = await startMailServer();
    await admin.patch('/api/v1/admin/settings', server.settings);
    await eventually('mail is configured', async () => {
      const { status } = await admin.send('POST', '/api/x/tools/mail', { body: { to: 'ada@example.com' } });
      return status === 200;
    });
    const { email } = await server.mailTo('ada@example.com');
    const { subject, text, from } = email;
    assert.deepEqual(
      [subject, text?.trim(), from?.address],
      ['From an extension', 'Hello & welcome', 'office@example.com'],
    );
    await admin.patch('/api/v1/admin/settings', { 'smtp.enabled': '0' });
  });
  await t.test('when many call setIfAbsent at once, one sets the value [extensions §6.6]', async () => {
    const race = () => admin.send('POST', '/api/x/tools/kv-race');
    const answers = await Promise.all([race(), race(), race(), race(), race(), race()]);
    assert.equal(answers.filter(({ json }) => at(json, 'data') === true).length, 1);
  });
}
