import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { type Bus, connectBus } from '@recordbus/bus';
import { createValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { createSettings, patchSettings, type Settings, type SettingsPatch } from '@recordbus/settings';
import { eventually } from '@recordbus/testing';
import { startMailServer } from '../test/mail-server.ts';
import {
  createMailSender,
  enqueueMail,
  enqueueMessage,
  listMails,
  type Mail,
  type MailOutcome,
  type MailSender,
  sendTestMail,
  tidyMailLog,
} from './index.ts';

const about = { collectionId: 'c1', recordId: 'r1' };

const quiet = createLogger('mail test', 'silent');

interface QueuedMail {
  readonly attempts: number;
  readonly created_at: Date;
  readonly next_attempt_at: Date;
}

suite('the mail sender', { skip: skipWithoutDatabase }, () => {
  let own: OpenTemporaryDatabase;
  let database: Database;
  let bus: Bus;
  let settings: Settings;
  const cipher = createValueCipher('a passphrase');
  const running: { stop(): Promise<void> }[] = [];
  const outcomes: MailOutcome[] = [];

  before(async () => {
    own = await openTemporaryDatabase();
    database = own.database;
    // Nothing listens on the discard port. Notices within one process need no server.
    bus = connectBus({ urls: 'nats://127.0.0.1:9', name: 'mail test', log: quiet });
    settings = createSettings({ database, bus, log: quiet, cipher, pollIntervalMs: 50 });
    await settings.start();
  });
  afterEach(async () => {
    outcomes.length = 0;
    for (const part of running.splice(0).reverse()) await part.stop();
    await database.query({ text: 'delete from system.mail_queue', values: [] });
    await database.query({ text: 'delete from system.mails', values: [] });
  });
  after(async () => {
    await settings.stop();
    await bus.close();
    await own.remove();
  });

  async function serve(options: Parameters<typeof startMailServer>[0] = {}) {
    const server = await startMailServer(options);
    // It closes after the senders that are connected to it.
    running.unshift({ stop: () => server.close() });
    return server;
  }
  function startSender(): MailSender {
    const sender = createMailSender({
      query: database.query,
      bus,
      settings,
      cipher,
      log: quiet,
      onOutcome: (outcome) => outcomes.push(outcome),
    });
    sender.start();
    running.push(sender);
    return sender;
  }
  async function configure(port: number, more: SettingsPatch = {}): Promise<void> {
    const patch: SettingsPatch = {
      'smtp.enabled': '1',
      'smtp.host': '127.0.0.1',
      'smtp.port': String(port),
      'smtp.from': 'The Office <office@example.com>',
      'smtp.user': '',
      'smtp.pass': '',
      ...more,
    };
    await patchSettings({ database, bus, cipher }, patch);
    await settings.refresh();
  }
  async function send(mail: Partial<Mail> = {}): Promise<void> {
    const whole = {
      template: 'verify',
      to: 'ada@example.com',
      collection: 'users',
      about,
      token: 'secret-token',
      usefulForSec: 600,
      ...mail,
    };
    await enqueueMail(database.query, whole as Mail);
    bus.notify('mail');
  }
  const queued = () => database.query<QueuedMail>({ text: 'select * from system.mail_queue', values: [] });
  /** The log's rows: recipient, state, attempts, last error. */
  const logged = async () =>
    (await listMails(database.query, { page: 1, perPage: 100 })).rows.map(
      ({ to, state, attempts, last_error }) => `${to} ${state} ${attempts} ${last_error}`,
    );
  const untilQueueIsEmpty = () => eventually(async () => (await queued()).length === 0);
  const dueNow = () =>
    database.query({ text: 'update system.mail_queue set next_attempt_at = now(), lease_until = null', values: [] });

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
    const undone = database.transaction(async (query) => {
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
    bus.notify('mail');
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
    bus.notify('mail');
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 1);
    await eventually(() => `${outcomes}` === 'postponed,sent');
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
    await eventually(() => `${outcomes}` === 'given_up');
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
    bus.notify('mail');
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 1);
  });

  test('a server without STARTTLS gets no mail when TLS is required, and the error names the setting [mail §1.3]', async () => {
    const server = await serve();
    await configure(server.port, { 'smtp.require_tls': '1' });
    await assert.rejects(sendTestMail(settings, 'yes@example.com'), {
      status: 502,
      message: /does not offer STARTTLS, and smtp\.require_tls/,
    });
    startSender();
    await send();
    await eventually(async () => (await queued()).find(({ attempts }) => attempts === 1));
    assert.equal(server.received.length, 0);
    await configure(server.port, { 'smtp.require_tls': '' });
    await dueNow();
    bus.notify('mail');
    await untilQueueIsEmpty();
    assert.equal(server.received.length, 1);
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
    await database.query({
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
    await enqueueMessage({ query: database.query, cipher }, message, about);
    const contents = () =>
      database.query<{ content: string }>({ text: 'select content from system.mail_contents', values: [] });
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
    await database.query({ text: 'delete from system.mails', values: [] });
    startSender();
    await untilQueueIsEmpty();
    assert.deepEqual(await logged(), ['ada@example.com sent 1 null']);
    await configure(server.port, { 'smtp.enabled': '0' });
    await send({ to: 'waiting@example.com' });
    await send({ to: 'lost@example.com' });
    const change = (text: string) => database.query({ text, values: [] });
    await change("delete from system.mail_queue where recipient = 'lost@example.com'");
    await change("update system.mails set created_at = now() - interval '1 hour'");
    await change(
      "update system.mails set finished_at = now() - interval '31 days' where recipient = 'ada@example.com'",
    );
    await tidyMailLog(database.query, 30);
    assert.deepEqual((await logged()).sort(), [
      'lost@example.com sent 0 an older version of the auth service sent it or gave it up',
      'waiting@example.com waiting 0 null',
    ]);
  });

  test("a test mail is sent immediately, or its error has the server's message [mail §1.4]", async () => {
    const server = await serve({
      onRcptTo: ({ address }, _session, done) =>
        address.startsWith('no')
          ? done(Object.assign(new Error('no user of that name'), { responseCode: 550 }))
          : done(),
    });
    await configure(server.port);
    await sendTestMail(settings, 'yes@example.com');
    assert.deepEqual(
      server.received.map((mail) => mail.recipients),
      [['yes@example.com']],
    );
    await assert.rejects(sendTestMail(settings, 'no@example.com'), {
      status: 502,
      details: { server: '550 no user of that name' },
    });
    await assert.rejects(sendTestMail(settings, 'a@b.c\r\nBcc: x@y.z'), { status: 422 });
    await configure(server.port, { 'smtp.enabled': '0' });
    await assert.rejects(sendTestMail(settings, 'yes@example.com'), { status: 422, code: 'mail_not_configured' });
  });
});
