import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Answer, Sending } from '../../harness/clients/client.ts';
import { file } from '../../harness/clients/multipart.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, textAt } from '../../harness/json.ts';
import { startCannedServer } from '../../harness/servers/canned-server.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { configure, countTaken, deliver, takenMail } from './mail-ground.ts';
import {
  mailgunMail,
  mailgunRaw,
  postmarkMail,
  postmarkPassword,
  secrets,
  snsMessage,
  wrongPasswords,
} from './requests.ts';

const settingsPath = '/api/v1/admin/settings';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Mails that come in: formats, proofs, and what a stranger may send. */
export async function inboundMails(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const { guest } = target;
  const postmark = (body: unknown, headers: Sending['headers'] = postmarkPassword) =>
    deliver(guest, 'postmark', { body, headers });
  const statusOf = async (answer: Promise<Answer>) => (await answer).status;

  await t.test('nothing is there without a secret, or for another name [mail §6.1]', async () => {
    for (const name of ['postmark', 'mailgun', 'ses', 'sendgrid', '__proto__', 'constructor', 'x'.repeat(60)]) {
      const { status, json } = await deliver(admin, name, { body: {} });
      assert.deepEqual([status, at(json, 'code')], [404, 'not_found'], name);
    }
  });

  await configure(admin, guest);

  await t.test('the secrets are settings, and are not shown with the others [mail §6.1]', async () => {
    const { text } = await admin.get(`${settingsPath}/groups`);
    for (const secret of Object.values(secrets)) assert.ok(!text.includes(secret), secret);
    assert.equal(await statusOf(postmark({}, {})), 401);
    assert.equal(await statusOf(deliver(guest, 'sendgrid', { body: {} })), 404);
    const { status } = await admin.send('PATCH', settingsPath, { body: { 'mail.inbound.ses.secret': 'mails' } });
    assert.equal(status, 422);
  });

  await t.test('a mail from Postmark reaches the hook [mail §6.2]', async () => {
    const { status, json } = await postmark(postmarkMail('A fire'));
    assert.deepEqual([status, json], [200, { data: { received: true } }]);
    const mail = await takenMail(guest, 'A fire');
    assert.deepEqual(at(mail, 'from'), { name: 'Ada Lovelace', address: 'ada@example.com' });
    assert.deepEqual(at(mail, 'reply_to'), [{ name: '', address: 'ada.private@example.com' }]);
    assert.deepEqual(at(mail, 'to'), [{ name: 'Desk', address: 'desk+42@inbound.example.org' }]);
    assert.deepEqual(at(mail, 'cc'), [{ name: '', address: 'carl@example.com' }]);
    assert.deepEqual(at(mail, 'recipients'), ['desk+42@inbound.example.org']);
    assert.deepEqual(at(mail, 'references'), ['<first@example.org>']);
    for (const [name, value] of Object.entries({
      provider: 'postmark',
      message_id: '<second@example.com>',
      in_reply_to: '<first@example.org>',
      text: 'My printer is on fire.\n',
      html: '<p>My printer is on fire.</p>',
      incomplete: false,
      attempt: 1,
    }))
      assert.equal(at(mail, name), value, name);
    assert.deepEqual(at(mail, 'attachments'), [
      {
        name: 'fire.png',
        type: 'image/png',
        size: 4,
        content_id: 'fire.png@01CE7342',
        sha256: sha256(Buffer.from([0, 1, 2, 255])),
      },
    ]);
  });

  await t.test('a mail that Postmark repeats reaches the hook once [mail §6.5]', async () => {
    const mail = postmarkMail('Repeated');
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(postmark(mail))));
    assert.deepEqual([...new Set(statuses)], [200]);
    await takenMail(guest, 'Repeated');
    assert.equal(await statusOf(postmark(mail)), 200);
    await postmark(postmarkMail('After the repeated'));
    await takenMail(guest, 'After the repeated');
    assert.equal(await countTaken(guest, 'Repeated'), 1);
  });

  await t.test('a wrong password is 401, before the body is looked at [mail §6.2]', async () => {
    for (const headers of wrongPasswords) {
      const answer = await deliver(guest, 'postmark', { rawBody: '{', headers });
      assert.equal(answer.status, 401);
      assert.match(String(answer.headers['www-authenticate']), /^Basic/);
    }
  });

  await t.test('what is not a mail from Postmark is refused [mail §6.2]', async () => {
    const raw = (rawBody: string | Uint8Array) =>
      statusOf(deliver(guest, 'postmark', { rawBody, headers: postmarkPassword }));
    for (const body of ['', '{', Buffer.from([0x22, 0xff, 0x22]), '['.repeat(100_000)])
      assert.equal(await raw(body), 400);
    for (const body of [
      [],
      {},
      null,
      1,
      { MessageID: '' },
      { ...postmarkMail('x'), Attachments: 'none' },
      { ...postmarkMail('x'), FromFull: [] },
    ])
      assert.equal(await raw(JSON.stringify(body)), 422, JSON.stringify(body).slice(0, 60));
    const many = Array.from({ length: 101 }, () => ({ Name: 'a', Content: '', ContentType: 'text/plain' }));
    assert.equal(await raw(JSON.stringify(postmarkMail('Many', { Attachments: many }))), 422);
  });

  await t.test('odd bytes in a mail are kept from the hook [mail §6.6]', async () => {
    await postmark(
      postmarkMail('Odd \0\ud800', { Attachments: [{ Name: '\r\n../..\0', Content: '!', ContentType: '<script>' }] }),
    );
    const mail = await takenMail(guest, 'Odd \ufffd');
    assert.deepEqual(
      listAt(mail, 'attachments').map((one) => [at(one, 'name'), at(one, 'type')]),
      [[null, 'application/octet-stream']],
    );
  });

  await t.test(
    '30 MB are refused, and 20 MB reach the hook without the bytes that do not fit [mail §6.6]',
    async () => {
      const attachment = (bytes: number) => [
        { Name: 'large', Content: Buffer.alloc(bytes).toString('base64'), ContentType: 'application/zip' },
      ];
      assert.equal(await statusOf(postmark(postmarkMail('30 MB', { Attachments: attachment(22_500_000) }))), 413);
      assert.equal(await statusOf(deliver(guest, 'ses', { rawBody: 'x'.repeat(30_000_000) })), 413);
      assert.equal(
        await statusOf(
          deliver(guest, 'mailgun', mailgunMail('Large', {}, [file('attachment-1', 'a', Buffer.alloc(30_000_000))])),
        ),
        413,
      );
      assert.equal(await statusOf(postmark(postmarkMail('20 MB', { Attachments: attachment(15_000_000) }))), 200);
      const mail = await takenMail(guest, '20 MB');
      assert.deepEqual(
        [at(mail, 'attachments.0.size'), at(mail, 'attachments.0.sha256'), at(mail, 'incomplete')],
        [15_000_000, null, true],
      );
      assert.equal(await statusOf(postmark(postmarkMail('10 MB', { Attachments: attachment(10_000_000) }))), 200);
      assert.equal(at(await takenMail(guest, '10 MB'), 'attachments.0.sha256'), sha256(Buffer.alloc(10_000_000)));
    },
  );

  await t.test('a mail from Mailgun reaches the hook, parsed or raw [mail §6.3]', async () => {
    const fire = Buffer.from([255, 0, 1]);
    assert.equal(
      await statusOf(
        deliver(
          guest,
          'mailgun',
          mailgunMail('From Mailgun', {}, [file('attachment-1', 'fire.png', fire, 'image/png')]),
        ),
      ),
      200,
    );
    const mail = await takenMail(guest, 'From Mailgun');
    assert.deepEqual(at(mail, 'to'), [
      { name: '', address: 'desk@example.org' },
      { name: 'Second', address: 'second@example.org' },
    ]);
    assert.deepEqual(
      [at(mail, 'text'), at(mail, 'message_id'), at(mail, 'in_reply_to')],
      ['Größe\n', '<From.Mailgun@example.com>', '<first@example.org>'],
    );
    assert.deepEqual(at(mail, 'attachments'), [
      { name: 'fire.png', type: 'image/png', size: 3, content_id: 'fire@x', sha256: sha256(fire) },
    ]);
    const mime = 'From: Ada <ada@example.com>\r\nSubject: Raw\r\nMessage-ID: <raw@example.com>\r\n\r\nText\r\n';
    assert.equal(await statusOf(deliver(guest, 'mailgun', mailgunRaw(mime))), 200);
    assert.equal(textAt(await takenMail(guest, 'Raw'), 'text').trim(), 'Text');
  });

  await t.test('a request that Mailgun has not signed now is 401 [mail §6.3]', async () => {
    for (const signing of [
      { key: 'another' },
      { ageSec: 13 * 3600 },
      { ageSec: -3600 },
      { token: '' },
      { token: 'a b' },
    ])
      assert.equal(await statusOf(deliver(guest, 'mailgun', mailgunMail('Unsigned', signing))), 401);
    assert.equal(await statusOf(deliver(guest, 'mailgun', { body: {} })), 415);
    const urlencoded = { 'Content-Type': 'application/x-www-form-urlencoded' };
    assert.equal(await statusOf(deliver(guest, 'mailgun', { rawBody: 'timestamp=1', headers: urlencoded })), 401);
    assert.equal(
      await statusOf(deliver(guest, 'mailgun', { rawBody: '&'.repeat(1_000_000), headers: urlencoded })),
      400,
    );
    assert.equal(
      await statusOf(
        deliver(guest, 'mailgun', { rawBody: 'x', headers: { 'Content-Type': 'multipart/form-data; boundary=b' } }),
      ),
      400,
    );
    assert.equal(await countTaken(guest, 'Unsigned'), 0);
  });

  await t.test('a token that Mailgun signed counts once, whatever comes with it [mail §6.3]', async () => {
    const token = randomUUID();
    assert.equal(await statusOf(deliver(guest, 'mailgun', mailgunMail('Once', { token }))), 200);
    for (const subject of ['Once', 'Twice']) {
      const { status, json } = await deliver(guest, 'mailgun', mailgunMail(subject, { token }));
      assert.deepEqual([status, at(json, 'code')], [406, 'mail_repeated']);
    }
    assert.equal(
      await statusOf(deliver(guest, 'mailgun', mailgunMail('Once'))),
      200,
      'the same mail with another token',
    );
    await takenMail(guest, 'Once');
    await deliver(guest, 'mailgun', mailgunMail('After once'));
    await takenMail(guest, 'After once');
    assert.deepEqual([await countTaken(guest, 'Once'), await countTaken(guest, 'Twice')], [1, 0]);
  });

  await t.test('broken MIME fails its own request only [mail §6.6]', async () => {
    const nested = Array.from(
      { length: 100 },
      (_, index) => `Content-Type: multipart/mixed; boundary=b${index}\r\n\r\n--b${index}\r\n`,
    );
    assert.equal(await statusOf(deliver(guest, 'mailgun', mailgunRaw(nested.join('')))), 422);
    const broken =
      'Subject: Broken\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!\r\n--y\r\n';
    assert.equal(await statusOf(deliver(guest, 'mailgun', mailgunRaw(broken))), 200);
    await takenMail(guest, 'Broken');
    assert.equal(await statusOf(deliver(guest, 'mailgun', mailgunRaw('Subject: Good\r\n\r\nText'))), 200);
    await takenMail(guest, 'Good');
  });

  await t.test('a message that Amazon SNS has not signed is refused, and calls nobody [mail §6.4]', async () => {
    await using server = await startCannedServer();
    const urls = [server.url, server.url.replace('127.0.0.1', 'localhost'), 'https://example.com/a.pem'];
    for (const url of urls)
      for (const Type of ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'])
        assert.equal(
          await statusOf(
            deliver(
              guest,
              'ses',
              snsMessage({
                Type,
                SigningCertURL: `${url}/SimpleNotificationService-${'0'.repeat(32)}.pem`,
                SubscribeURL: url,
                Token: 'x',
              }),
            ),
          ),
          401,
        );
    assert.equal(
      await statusOf(deliver(guest, 'ses', snsMessage({ TopicArn: 'arn:aws:sns:eu-central-1:123456789012:other' }))),
      401,
    );
    assert.equal(await statusOf(deliver(guest, 'ses', { rawBody: '{}' })), 400);
    assert.deepEqual(server.received, []);
  });

  await t.test('a hook that throws gets the mail again [mail §6.5]', async () => {
    await postmark(postmarkMail('Fails once'));
    assert.equal(at(await takenMail(guest, 'Fails once'), 'attempt'), 2);
    await postmark(postmarkMail('Fails always'));
    const row = await eventually('the failed job is listed', async () => {
      const jobs = listAt(
        (await admin.get('/api/v1/admin/extension-jobs?name=desk.onMail&state=pending')).json,
        'data',
      );
      return jobs.find((job) => at(job, 'error') !== null) ?? false;
    });
    assert.match(textAt(row, 'error'), /never/);
    const { json } = await admin.get(`/api/v1/admin/extension-jobs/${textAt(row, 'id')}`);
    assert.deepEqual(at(json, 'data.input'), { provider: 'postmark', message_id: '<second@example.com>' });
    assert.equal((await admin.send('POST', `/api/v1/admin/extension-jobs/${textAt(row, 'id')}/cancel`)).status, 200);
  });
}
