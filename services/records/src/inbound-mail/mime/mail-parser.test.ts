import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { receivedMail } from '../received-mail.ts';
import { createMailParser } from './mail-parser.ts';

const log = createLogger('test', 'silent');
const refusal = (status: number) => (error: { status?: number }) => error.status === status;

describe('the parser of mails', () => {
  const parser = createMailParser({ log });
  after(() => parser.stop());
  const read = async (text: string | Uint8Array) =>
    receivedMail(await parser.parse(Buffer.from(text)), { provider: 'ses', recipients: [] });

  it('reads addresses, texts and attachments', async () => {
    const mail = await read(
      [
        'From: =?UTF-8?Q?Z=C3=B6e?= <zoe@example.com>',
        'To: Team: a@example.org, "B, C" <b@example.org>;, c@example.org',
        'Subject: =?ISO-8859-1?Q?Gr=FC=DFe?=',
        'Message-ID: <2@example.com>',
        'In-Reply-To: <1@example.org>',
        'References: <0@example.org> <1@example.org>',
        'Content-Type: multipart/mixed; boundary=x',
        '',
        '--x',
        'Content-Type: text/plain; charset=iso-8859-1',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        'Stra=DFe',
        '--x',
        'Content-Type: image/png',
        'Content-Disposition: attachment; filename="../../a\u202e.png"',
        'Content-ID: <pic@x>',
        'Content-Transfer-Encoding: base64',
        '',
        'AAEC',
        '--x--',
      ].join('\r\n'),
    );
    assert.deepEqual(mail.from, { name: 'Zöe', address: 'zoe@example.com' });
    assert.deepEqual(
      mail.to.map(({ address }) => address),
      ['a@example.org', 'b@example.org', 'c@example.org'],
    );
    assert.deepEqual([mail.subject, mail.text?.trim()], ['Grüße', 'Straße']);
    assert.deepEqual(mail.references, ['<0@example.org>', '<1@example.org>']);
    assert.equal(mail.in_reply_to, '<1@example.org>');
    const [attachment] = mail.attachments;
    assert.deepEqual([attachment?.name, attachment?.type, attachment?.content_id], ['a.png', 'image/png', 'pic@x']);
    assert.deepEqual([...(attachment?.content ?? [])], [0, 1, 2]);
    assert.equal(mail.incomplete, false);
  });

  it('reads what is not a mail as far as it goes', async () => {
    for (const text of [
      '',
      '\0\xff\xfe',
      'x'.repeat(100_000),
      '\r\n\r\n',
      'From: <<<>>>\r\nTo: ,,;:\r\n\r\n',
      '--\r\n'.repeat(10_000),
    ])
      assert.equal((await read(Buffer.from(text, 'latin1'))).message_id, null);
  });

  it('refuses what nests too deep, has too large headers or too many parts', async () => {
    const nested = Array.from(
      { length: 200 },
      (_, index) => `Content-Type: multipart/mixed; boundary=b${index}\r\n\r\n--b${index}\r\n`,
    );
    await assert.rejects(read(nested.join('')), refusal(422));
    await assert.rejects(read(`X-Long: ${'x'.repeat(2 ** 20)}\r\n\r\n`), refusal(422));
    const part = '--x\r\nContent-Disposition: attachment; filename=a\r\n\r\na\r\n';
    await assert.rejects(
      read(`Content-Type: multipart/mixed; boundary=x\r\n\r\n${part.repeat(5000)}--x--`),
      refusal(422),
    );
  });

  it('leaves out the bytes that do not fit, and says so', async () => {
    const part = (name: string, bytes: number) =>
      `--x\r\nContent-Disposition: attachment; filename=${name}\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.alloc(bytes).toString('base64')}\r\n`;
    const mail = await read(
      `Content-Type: multipart/mixed; boundary=x\r\n\r\n${part('large', 11 * 2 ** 20)}${part('small', 5)}--x--`,
    );
    assert.deepEqual(
      mail.attachments.map(({ name, size, content }) => [name, size, content?.length]),
      [
        ['large', 11 * 2 ** 20, undefined],
        ['small', 5, 5],
      ],
    );
    assert.equal(mail.incomplete, true);
  });
});

describe('a parser whose process fails', () => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-parser-'));
  after(() => rmSync(directory, { recursive: true }));
  const answer =
    "{ kind: 'read', mail: { subject: 'read', headers: [], attachments: [], replyTo: [], to: [], cc: [] } }";
  const file = join(directory, 'parser.mjs');
  writeFileSync(
    file,
    `process.on('message', ({ bytes }) => {
      const text = Buffer.from(bytes).toString();
      if (text === 'loop') for (;;);
      if (text === 'exit') process.exit(3);
      process.send(${answer});
      if (text === 'then exit') setImmediate(() => process.exit());
    });
    process.on('disconnect', () => process.exit());`,
  );

  it('refuses the mail that did it, and reads the next ones', async () => {
    const parser = createMailParser({ log, file, timeoutMs: 3000, startMs: 20_000 });
    const read = async (text: string) => (await parser.parse(Buffer.from(text))).subject;
    assert.equal(await read('a mail'), 'read');
    for (const text of ['loop', 'exit', 'loop']) {
      await assert.rejects(read(text), refusal(422), text);
      assert.equal(await read('a mail'), 'read');
    }
    assert.equal(await read('then exit'), 'read');
    assert.equal(await read('a mail'), 'read');
    parser.stop();
    await assert.rejects(read('a mail'), refusal(503));
  });

  it('refuses mails while too many wait', async () => {
    const parser = createMailParser({ log, file, timeoutMs: 3000, startMs: 20_000 });
    const answers = await Promise.allSettled(Array.from({ length: 50 }, () => parser.parse(Buffer.from('a mail'))));
    assert.ok(answers.some(({ status }) => status === 'fulfilled'));
    assert.ok(answers.some((one) => one.status === 'rejected' && refusal(503)(one.reason)));
    parser.stop();
  });
});
