import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { eventually } from '@recordbus/testing';
import { about, prepareMailGround } from '../test/mail-ground.ts';
import { enqueueMail, enqueueMessage, tidyMailLog } from './index.ts';

suite('the mail sender', { skip: skipWithoutDatabase }, () => {
  const ground = prepareMailGround();
  const { serve, startSender, configure, send, queued, logged, untilQueueIsEmpty } = ground;

  test('a queued mail arrives once, with text and HTML, and leaves no secrets in the queue [mail §3.5]', async () => {
    const server = await serve();
    await configure(server.port);
    startSender();
    startSender();
    await send();
    await untilQueueIsEmpty();
    const [mail, ...more] = server.received;
    assert.deepEqual(more, []);
    assert.deepEqual(mail?.recipients, ['ada@example.com']);
    assert.deepEqual(mail?.email.from, { address: 'office@example.com', name: 'The Office' });
    assert.deepEqual(mail?.email.to, [{ address: 'ada@example.com', name: '' }]);
    assert.equal(mail?.email.subject, 'Verify your email');
    assert.match(mail?.email.text ?? '', /token=secret-token/);
    assert.match(mail?.email.html ?? '', /<a href="[^"]*token=secret-token">/);
    assert.match(mail?.raw ?? '', /^Auto-Submitted: auto-generated\r$/m);
    assert.match(mail?.raw ?? '', /^Message-ID: <[0-9a-f-]{36}@example\.com>\r$/im);
  });

  test('several replicas send each of many mails exactly once [mail §3.2]', async () => {
    const server = await serve();
    await configure(server.port);
    for (let replica = 0; replica < 3; replica += 1) startSender();
    const recipients = Array.from({ length: 40 }, (_, index) => `user${index}@example.com`);
    await Promise.all(recipients.map((to) => send({ to })));
    await untilQueueIsEmpty();
    assert.deepEqual(server.received.flatMap((mail) => mail.recipients).sort(), recipients.toSorted());
  });

  test("a rolled-back transaction's mail is never sent [mail §3.1]", async () => {
    const server = await serve();
    await configure(server.port);
    startSender();
    const undone = ground.database.transaction(async (query) => {
      await enqueueMail(query, {
        template: 'verify',
        to: 'x@example.com',
        collection: 'u',
        about,
        token: 't',
        usefulForSec: 60,
      });
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
    await send({ to: 'after@example.com' });
    await untilQueueIsEmpty();
    assert.deepEqual(
      server.received.map((mail) => mail.recipients),
      [['after@example.com']],
    );
  });

  test('a mail waits while mail is disabled, and is deleted when it expires', async () => {
    const server = await serve();
    await configure(server.port, { 'smtp.enabled': '0' });
    startSender();
    await send({ to: 'late@example.com', usefulForSec: 0 });
    await send({ to: 'early@example.com' });
    await eventually(async () => (await queued()).length === 1);
    await configure(server.port);
    await untilQueueIsEmpty();
    assert.deepEqual(
      server.received.map((mail) => mail.recipients),
      [['early@example.com']],
    );
    assert.deepEqual((await logged()).sort(), [
      'early@example.com sent 1 null',
      'late@example.com dead 0 not sent in time',
    ]);
  });

  test('an address that could be read as two or as a header gets no mail [mail §2.6]', async () => {
    const server = await serve();
    await configure(server.port);
    startSender();
    const bad = [
      'a@b.c,eve@example.com',
      'a@b.c\r\nBcc: eve@example.com',
      'a@b.c>\r\nRCPT TO:<eve@example.com',
      'x@y.invalid',
    ];
    for (const to of bad) await send({ to });
    await send({ to: 'last@example.com' });
    await untilQueueIsEmpty();
    assert.deepEqual(
      server.received.map((mail) => mail.recipients),
      [['last@example.com']],
    );
  });

  test('a mail whose lease has expired is sent by another replica [mail §3.2]', async () => {
    const server = await serve();
    await configure(server.port);
    await send();
    await ground.database.query({
      text: "update system.mail_queue set lease_token = gen_random_uuid(), lease_until = now() - interval '1 second'",
      values: [],
    });
    startSender();
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 1);
  });

  test('a message waits encrypted, and its content goes with the last recipient [mail §3.5]', async () => {
    const server = await serve();
    await configure(server.port, { 'smtp.enabled': '0' });
    const [ada, bob] = ['ada@example.com', 'bob@example.com'].map((address) => ({ name: '', address }));
    assert.ok(ada && bob);
    const message = {
      subject: 'A secret subject',
      text: 'A secret text',
      to: [ada],
      cc: [],
      bcc: [bob],
      replyTo: [],
      headers: {},
      messageId: '<one@example.com>',
      attachments: [{ name: 'a.bin', type: 'application/octet-stream', content: new Uint8Array([0, 255, 10]) }],
    };
    await enqueueMessage({ query: ground.database.query, cipher: ground.cipher }, message, about);
    const contents = () =>
      ground.database.query<{ content: string }>({ text: 'select content from system.mail_contents', values: [] });
    const [stored, ...more] = await contents();
    assert.match(stored?.content ?? '', /^enc:1:/);
    assert.deepEqual(more, []);
    await configure(server.port);
    startSender();
    startSender();
    await untilQueueIsEmpty();
    assert.deepEqual(server.received.flatMap(({ recipients }) => recipients).sort(), [
      'ada@example.com',
      'bob@example.com',
    ]);
    assert.ok(server.received.every(({ email }) => email.text?.trim() === 'A secret text' && !email.bcc));
    assert.deepEqual(await contents(), []);
  });

  test('the log has what older versions queued and ended, and forgets old mails [mail §4.1]', async () => {
    const server = await serve();
    await configure(server.port);
    await send();
    await ground.database.query({ text: 'delete from system.mails', values: [] });
    startSender();
    await untilQueueIsEmpty();
    assert.deepEqual(await logged(), ['ada@example.com sent 1 null']);
    await configure(server.port, { 'smtp.enabled': '0' });
    await send({ to: 'waiting@example.com' });
    await send({ to: 'lost@example.com' });
    const change = (text: string) => ground.database.query({ text, values: [] });
    await change("delete from system.mail_queue where recipient = 'lost@example.com'");
    await change("update system.mails set created_at = now() - interval '1 hour'");
    await change(
      "update system.mails set finished_at = now() - interval '31 days' where recipient = 'ada@example.com'",
    );
    await tidyMailLog(ground.database.query, 30);
    assert.deepEqual((await logged()).sort(), [
      'lost@example.com sent 0 an older version of the auth service sent it or gave it up',
      'waiting@example.com waiting 0 null',
    ]);
  });
});
