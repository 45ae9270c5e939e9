import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { eventually } from '@recordbus/testing';
import { prepareMailGround } from '../test/mail-ground.ts';
import { startMailServer } from '../test/mail-server.ts';
import { sendTestMail } from './index.ts';

suite('mails that a mail server refuses', { skip: skipWithoutDatabase }, () => {
  const ground = prepareMailGround();
  const { serve, startSender, configure, send, queued, logged, untilQueueIsEmpty, dueNow } = ground;

  test('a mail is sent later when no server answers [mail §3.3]', async () => {
    const gone = await startMailServer();
    await gone.close();
    await configure(gone.port);
    startSender();
    await send();
    const waiting = await eventually(async () => (await queued()).find(({ attempts }) => attempts === 1));
    assert.ok(waiting.next_attempt_at > waiting.created_at);
    const server = await serve();
    await configure(server.port);
    await dueNow();
    ground.bus.notify('mail');
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 1);
  });

  test('a mail that the server refuses with 4xx is tried again [mail §3.3]', async () => {
    let refusals = 1;
    const server = await serve({
      onRcptTo: (_address, _session, done) =>
        refusals-- > 0 ? done(Object.assign(new Error('greylisted'), { responseCode: 450 })) : done(),
    });
    await configure(server.port);
    startSender();
    await send();
    await eventually(async () => (await queued()).find(({ attempts }) => attempts === 1));
    assert.deepEqual(await logged(), ['ada@example.com waiting 1 450 greylisted']);
    await dueNow();
    ground.bus.notify('mail');
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 1);
    await eventually(() => `${ground.outcomes}` === 'postponed,sent');
    assert.deepEqual(await logged(), ['ada@example.com sent 2 null']);
  });

  test('a mail that the server refuses with 5xx is given up [mail §3.4]', async () => {
    const server = await serve({
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no such user'), { responseCode: 550 })),
    });
    await configure(server.port);
    startSender();
    await send();
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 0);
    await eventually(() => `${ground.outcomes}` === 'given_up');
    assert.deepEqual(await logged(), ['ada@example.com dead 1 550 no such user']);
  });

  test("a mail waits while the mail server's password is wrong [mail §3.3]", async () => {
    const server = await serve({
      authOptional: false,
      onAuth: ({ password }, _session, done) =>
        password === 'right' ? done(null, { user: 'office' }) : done(new Error('Invalid username or password')),
    });
    await configure(server.port, { 'smtp.user': 'office', 'smtp.pass': 'wrong' });
    startSender();
    await send();
    await eventually(async () => (await queued()).find(({ attempts }) => attempts === 1));
    await configure(server.port, { 'smtp.user': 'office', 'smtp.pass': 'right' });
    await dueNow();
    ground.bus.notify('mail');
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 1);
  });

  test('a server without STARTTLS gets no mail when TLS is required, and the error names the setting [mail §1.3]', async () => {
    const server = await serve();
    await configure(server.port, { 'smtp.require_tls': '1' });
    await assert.rejects(sendTestMail(ground.settings, 'yes@example.com'), {
      status: 502,
      message: /does not offer STARTTLS, and smtp\.require_tls/,
    });
    startSender();
    await send();
    await eventually(async () => (await queued()).find(({ attempts }) => attempts === 1));
    assert.equal(server.received.length, 0);
    await configure(server.port, { 'smtp.require_tls': '' });
    await dueNow();
    ground.bus.notify('mail');
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 1);
  });

  test("a test mail is sent immediately, or its error has the server's message [mail §1.4]", async () => {
    const server = await serve({
      onRcptTo: ({ address }, _session, done) =>
        address.startsWith('no')
          ? done(Object.assign(new Error('no user of that name'), { responseCode: 550 }))
          : done(),
    });
    await configure(server.port);
    await sendTestMail(ground.settings, 'yes@example.com');
    assert.deepEqual(
      server.received.map((mail) => mail.recipients),
      [['yes@example.com']],
    );
    await assert.rejects(sendTestMail(ground.settings, 'no@example.com'), {
      status: 502,
      details: { server: '550 no user of that name' },
    });
    await assert.rejects(sendTestMail(ground.settings, 'a@b.c\r\nBcc: x@y.z'), { status: 422 });
    await configure(server.port, { 'smtp.enabled': '0' });
    await assert.rejects(sendTestMail(ground.settings, 'yes@example.com'), {
      status: 422,
      code: 'mail_not_configured',
    });
  });
});
