import assert from 'node:assert/strict';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/admin/settings/test-email';

onEachTopology('an admin sends a test mail', async (t, target) => {
  await using server = await startMailServer();
  const request = `POST ${path}`;
  await runScenarios(t, target, [
    {
      name: 'a guest',
      request,
      body: { to: 'ada@example.com' },
      expect: refused.unauthenticated,
      spec: 'http §6.2',
    },
    {
      name: 'a user',
      as: 'user',
      request,
      body: { to: 'ada@example.com' },
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
    {
      name: 'mail that is not configured',
      as: 'admin',
      request,
      body: { to: 'ada@example.com' },
      expect: { status: 422, json: { error: is.text, code: 'mail_not_configured' } },
      spec: 'mail §1.4',
    },
    {
      name: 'the settings of the mail server',
      as: 'admin',
      request: 'PATCH /api/v1/admin/settings',
      body: server.settings,
      expect: { status: 200 },
      spec: 'settings §2',
    },
    {
      name: 'a mail that the server accepts',
      as: 'admin',
      request,
      body: { to: 'ada@example.com' },
      expect: { status: 200, json: { data: { sent: true } } },
      spec: 'mail §1.4',
    },
    {
      name: 'a mail that the server refuses, with its error',
      as: 'admin',
      request,
      body: { to: 'refuse@example.com' },
      expect: {
        status: 502,
        json: { error: is.text, code: 'mail_not_sent', details: { server: '550 no such user here' } },
      },
      spec: 'mail §1.4',
    },
    ...['', 'ada', 'a@b.c, d@e.f', 'a@example.com\r\nBcc: eve@example.com', '<eve@example.com>', 'a,b@example.com'].map(
      (to) => ({
        name: `the invalid address ${JSON.stringify(to)}`,
        as: 'admin' as const,
        request,
        body: { to },
        expect: refused.invalid('to'),
        spec: 'mail §1.4',
      }),
    ),
    {
      name: 'a missing address',
      as: 'admin',
      request,
      body: {},
      expect: refused.invalid('to'),
      spec: 'mail §1.4',
    },
  ]);
  await t.test("one mail arrives, for one recipient, from the settings' sender", () => {
    // Mails with other subjects waited until mail was configured again.
    const sent = server.received.filter(({ email }) => email.subject === 'A test mail');
    assert.deepEqual(
      sent.map(({ recipients, email }) => ({ recipients, from: email.from })),
      [{ recipients: ['ada@example.com'], from: { name: 'The Office', address: 'office@example.com' } }],
    );
  });
});
