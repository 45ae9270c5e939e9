import assert from 'node:assert/strict';
import { startMailServer } from '../harness/mail-server.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

const path = '/api/v1/admin/settings/test-email';

onEachTopology('the mail settings can be tried out', async (t, target) => {
  await using server = await startMailServer();
  const request = `POST ${path}`;
  await runScenarios(t, target, [
    {
      name: 'a guest may not',
      request,
      body: { to: 'ada@example.com' },
      expect: refused.unauthenticated,
      spec: 'contract §1',
    },
    {
      name: 'a user may not',
      as: 'user',
      request,
      body: { to: 'ada@example.com' },
      expect: refused.forbidden,
      spec: 'contract §1',
    },
    {
      name: 'there is no mail before it is configured',
      as: 'admin',
      request,
      body: { to: 'ada@example.com' },
      expect: { status: 422, json: { error: is.text, code: 'mail_not_configured' } },
      spec: 'contract §4',
    },
    {
      name: 'a setting counts at once',
      as: 'admin',
      request: 'PATCH /api/v1/admin/settings',
      body: server.settings,
      expect: { status: 200 },
      spec: 'contract §7',
    },
    {
      name: 'the mail was taken',
      as: 'admin',
      request,
      body: { to: 'ada@example.com' },
      expect: { status: 200, json: { data: { sent: true } } },
      spec: 'contract §4',
    },
    {
      name: 'the words of the server come back',
      as: 'admin',
      request,
      body: { to: 'refuse@example.com' },
      expect: {
        status: 502,
        json: { error: is.text, code: 'mail_not_sent', details: { server: '550 we know nobody of that name' } },
      },
      spec: 'contract §4',
    },
    ...['', 'ada', 'a@b.c, d@e.f', 'a@example.com\r\nBcc: eve@example.com', '<eve@example.com>', 'a,b@example.com'].map(
      (to) => ({
        name: `${JSON.stringify(to)} is no address`,
        as: 'admin' as const,
        request,
        body: { to },
        expect: refused.invalid('to'),
        spec: 'contract §4',
      }),
    ),
    {
      name: 'the address is missing',
      as: 'admin',
      request,
      body: {},
      expect: refused.invalid('to'),
      spec: 'contract §4',
    },
  ]);
  await t.test('one mail arrived, for one recipient, from whom the settings say', () => {
    // Mails of another subject have waited for somebody to configure mail again.
    const tried = server.received.filter(({ email }) => email.subject === 'A test mail');
    assert.deepEqual(
      tried.map(({ recipients, email }) => ({ recipients, from: email.from })),
      [{ recipients: ['ada@example.com'], from: { name: 'The Office', address: 'office@example.com' } }],
    );
  });
});
