import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient } from '../../harness/clients/client.ts';
import { file, multipart } from '../../harness/clients/multipart.ts';
import { eventually } from '../../harness/eventually.ts';
import { listAt, textAt } from '../../harness/json.ts';
import { startMailServer } from '../../harness/servers/mail-server.ts';
import type { Target } from '../../harness/stacks/target.ts';

const megabyte = 'x'.repeat(1_000_000);

/** Mails that extensions send: addresses, headers, attachments, and the transaction. */
export async function mails(t: TestContext, target: Target): Promise<void> {
  await using server = await startMailServer();
  const admin = await target.admin();
  await admin.patch('/api/v1/admin/settings', server.settings);
  const send = (body: object, path = '', client = admin) =>
    client.send('POST', `/api/x/mails${path}`, { body: { subject: 'Hello', text: 'A text', ...body } });
  await eventually('mail is configured', async () => (await send({ to: 'probe@example.com' })).status === 200);
  const logOf = async (to: string) => listAt((await admin.get(`/api/v1/admin/mails?to=${to}`)).json, 'data');

  await t.test('everyone gets the mail, and nobody sees the blind copies [mail §5.1, §5.2]', async () => {
    const { status } = await send({
      to: ['Ada Lovelace <ada@example.com>', '"Lovelace, Bob" <bob@example.com>'],
      cc: 'carl@example.com',
      bcc: ['dora@example.com', 'ADA@example.com'],
      reply_to: 'The Desk <desk+42@example.com>',
      html: '<p>A <b>text</b></p>',
    });
    assert.equal(status, 200);
    for (const name of ['ada', 'bob', 'carl', 'dora']) {
      const { email, recipients } = await server.mailTo(`${name}@example.com`.replace('ada@', 'ADA@'));
      assert.equal(recipients.length, 1);
      assert.deepEqual(email.to, [
        { name: 'Ada Lovelace', address: 'ada@example.com' },
        { name: 'Lovelace, Bob', address: 'bob@example.com' },
      ]);
      assert.deepEqual(email.cc, [{ name: '', address: 'carl@example.com' }]);
      assert.equal(email.bcc, undefined);
      assert.deepEqual(email.replyTo, [{ name: 'The Desk', address: 'desk+42@example.com' }]);
      assert.match(email.html ?? '', /<b>text<\/b>/);
    }
    const ids = server.received.filter(({ email }) => email.cc).map(({ email }) => email.messageId);
    assert.deepEqual([ids.length, new Set(ids).size], [4, 1]);
  });

  await t.test('an answer joins its thread [mail §5.3]', async () => {
    const first = textAt((await send({ to: 'thread@example.com' })).json, 'data.message_id');
    assert.match(first, /^<[0-9a-f-]{36}@example\.com>$/);
    await send({
      to: 'thread@example.com',
      subject: 'Re: Hello',
      headers: { 'In-Reply-To': first, References: `<older@example.com> ${first}`, 'Message-ID': '<own@example.com>' },
    });
    const { email } = await server.mailTo('thread@example.com', { subject: 'Re: Hello' });
    assert.deepEqual(
      [email.inReplyTo, email.references, email.messageId],
      [first, `<older@example.com> ${first}`, '<own@example.com>'],
    );
  });

  const to = 'shaped@example.com';
  const shaped: readonly [string, object, string][] = [
    ['a line break in a value', { headers: { 'X-A': 'a\r\nBcc: eve@example.com' } }, 'headers.X-A'],
    ['a line feed in a value', { headers: { 'X-A': 'a\nBcc: eve@example.com' } }, 'headers.X-A'],
    ['NUL in a value', { headers: { 'X-A': 'a\0b' } }, 'headers.X-A'],
    ['a line break in a name', { headers: { 'X-A: b\r\nBcc': 'eve@example.com' } }, 'headers.X-A: b\r\nBcc'],
    ['a blind copy as a header', { headers: { bCC: 'eve@example.com' } }, 'headers.bCC'],
    ['another sender', { headers: { From: 'eve@example.com' } }, 'headers.From'],
    ['another content type', { headers: { 'Content-Type': 'text/html' } }, 'headers.Content-Type'],
    ['an id that is none', { headers: { 'In-Reply-To': 'everything' } }, 'headers.In-Reply-To'],
    ['a header twice', { headers: { 'X-A': 'a', 'x-a': 'b' } }, 'headers'],
    ['a megabyte as a value', { headers: { 'X-A': megabyte } }, 'headers.X-A'],
    ['a megabyte as a name', { headers: { [megabyte]: 'a' } }, `headers.${'x'.repeat(80)}`],
    [
      'thirty-one headers',
      { headers: Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`X-${n}`, 'a'])) },
      'headers',
    ],
    ['two addresses as one', { to: 'a@example.com,eve@example.com' }, 'to.0'],
    ['a line break in an address', { cc: 'a@example.com\r\nBcc: eve@example.com' }, 'cc.0'],
    ['a line break in a name of an answer', { reply_to: 'A\r\nBcc: e@example.com <a@example.com>' }, 'reply_to.0'],
    ['a megabyte as an address', { to: megabyte }, 'to.0'],
    ['no recipient', { to: [] }, 'to'],
    ['fifty-one recipients', { to: Array.from({ length: 51 }, (_, n) => `a${n}@example.com`) }, 'to'],
    ['a path as a name', { attachments: [{ name: '../a', type: 'text/plain', content: 'a' }] }, 'attachments.0.name'],
    [
      'a line break in a type',
      { attachments: [{ name: 'a', type: 'a/b\r\nX: y', content: 'a' }] },
      'attachments.0.type',
    ],
    ['no content', { attachments: [{ name: 'a', type: 'text/plain' }] }, 'attachments.0.content'],
    [
      'twenty-one attachments',
      { attachments: Array.from({ length: 21 }, () => ({ name: 'a', type: 'a/b', content: 'a' })) },
      'attachments',
    ],
    ['an unknown member', { from: 'eve@example.com' }, 'mail'],
  ];
  for (const [name, more, member] of shaped)
    await t.test(`422: ${name} [mail §5.3]`, async () => {
      const { status, json } = await send({ to, ...more });
      assert.equal(status, 422, JSON.stringify(json).slice(0, 500));
      assert.deepEqual(Object.keys((json as { details: object }).details), [member]);
    });

  await t.test('bytes and texts are attached, up to 10 MiB [mail §5.4]', async () => {
    const pdf = Buffer.from([0, 255, 37, 80, 68, 70, 13, 10, 46, 13, 10]);
    await send({
      to: 'bytes@example.com',
      attachments: [
        { name: 'Rechnung für März.pdf', type: 'application/pdf', base64: pdf.toString('base64') },
        { name: 'note.txt', type: 'text/plain', content: 'größer' },
      ],
    });
    const { email } = await server.mailTo('bytes@example.com');
    const attached = email.attachments.map(({ filename, mimeType, content }) => ({
      filename,
      mimeType,
      content: Buffer.from(content as ArrayBuffer),
    }));
    assert.deepEqual(attached[0], { filename: 'Rechnung für März.pdf', mimeType: 'application/pdf', content: pdf });
    assert.equal(attached[1]?.content.toString().trim(), 'größer');
    const largest = 10 * 2 ** 20;
    const tooLarge = await admin.send('POST', '/api/x/mails/attached-bytes', { body: { to, bytes: largest + 1 } });
    assert.equal(tooLarge.status, 422);
    const accepted = await admin.send('POST', '/api/x/mails/attached-bytes', {
      body: { to: 'large@example.com', bytes: largest },
    });
    assert.equal(accepted.status, 200, JSON.stringify(accepted.json));
    const large = await server.mailTo('large@example.com');
    const [bytes] = large.email.attachments;
    assert.equal(Buffer.from(bytes?.content as ArrayBuffer).byteLength, largest);
  });

  await t.test("a record's files are attached by the rules of the caller [mail §5.4]", async () => {
    await admin.send('POST', '/api/v1/collections', { body: { name: 'holders', type: 'auth' } });
    await admin.send('POST', '/api/v1/collections', {
      body: {
        name: 'contracts',
        fields: [
          { name: 'owner', type: 'text' },
          { name: 'pages', type: 'file', options: { multiple: true, protected: true } },
        ],
        view_rule: 'owner = @request.auth.id',
      },
    });
    const person = async (name: string) => {
      const { json } = await target.guest.send('POST', '/api/v1/auth/holders/register', {
        body: { email: `${name}@example.com`, password: 'a long and winding password' },
      });
      return { id: textAt(json, 'data.record.id'), client: createClient(target.url, textAt(json, 'data.token')) };
    };
    const holder = await person('holder');
    const other = await person('other');
    const { json } = await admin.send('POST', '/api/v1/contracts', {
      ...multipart(
        { name: 'owner', content: holder.id },
        file('pages', 'One.txt', 'page one'),
        file('pages', 'Two.txt', 'page two'),
      ),
    });
    const id = textAt(json, 'data.id');
    const attach = (recipient: string, more: object = {}) => ({
      to: recipient,
      attachments: [{ collection: 'contracts', id, field: 'pages', ...more }],
    });
    const textsTo = async (recipient: string) =>
      (await server.mailTo(recipient)).email.attachments.map(
        ({ filename, content }) =>
          `${filename}: ${Buffer.from(content as ArrayBuffer)
            .toString()
            .trim()}`,
      );
    assert.equal((await send(attach('both@example.com'), '/as-caller', holder.client)).status, 200);
    assert.deepEqual(await textsTo('both@example.com'), ['One.txt: page one', 'Two.txt: page two']);
    const second = textAt(json, 'data.pages.1');
    assert.equal((await send(attach('second@example.com', { name: second }), '/as-caller', holder.client)).status, 200);
    assert.deepEqual(await textsTo('second@example.com'), ['Two.txt: page two']);
    // The extension itself may attach every file.
    assert.equal((await send(attach('own@example.com'), '', other.client)).status, 200);
    assert.equal((await send(attach(to), '/as-caller', other.client)).status, 403);
    assert.equal((await send(attach(to), '/as-caller', target.guest)).status, 403);
    assert.equal((await send(attach(to, { name: 'no.txt' }), '/as-caller', holder.client)).status, 404);
    assert.equal((await send(attach(to, { field: 'owner' }), '/as-caller', holder.client)).status, 404);
    assert.equal((await send(attach(to, { id: 'no such' }), '/as-caller', holder.client)).status, 404);
    assert.equal((await send(attach(to, { collection: 'nothing' }), '/as-caller', holder.client)).status, 404);
  });

  await t.test('a hook mails exactly when its write is committed [mail §3.1]', async () => {
    await admin.send('POST', '/api/v1/collections', {
      body: {
        name: 'letters',
        fields: [
          { name: 'to', type: 'text' },
          { name: 'refused', type: 'bool' },
        ],
      },
    });
    const write = (recipient: string, refused: boolean) =>
      admin.send('POST', '/api/v1/letters', { body: { to: recipient, refused } });
    assert.equal((await write('never@example.com', true)).status, 422);
    assert.equal((await write('written@example.com', false)).status, 201);
    await server.mailTo('written@example.com');
    assert.deepEqual(await logOf('never@example.com'), []);
  });

  await t.test('one recipient is refused and another put off; the log tells them apart [mail §5.2]', async () => {
    const about = { collection: 'holders', id: 'an-id' };
    await send({ to: ['refuse.them@example.com', 'later.them@example.com', 'fine.them@example.com'], about });
    const ended = (recipient: string) =>
      eventually(`the mail to ${recipient} ends`, async () => {
        const [row] = await logOf(recipient);
        return row?.finished !== null && row && `${row.state} ${row.attempts} ${row.template} ${row.record_id}`;
      });
    assert.equal(await ended('refuse.them@example.com'), 'dead 1 message an-id');
    assert.equal(await ended('fine.them@example.com'), 'sent 1 message an-id');
    assert.equal(await ended('later.them@example.com'), 'sent 2 message an-id');
  });

  await t.test('no mail came from a refused call', () => {
    assert.deepEqual(
      server.received.flatMap(({ recipients }) => recipients).filter((one) => /eve|shaped/.test(one)),
      [],
    );
  });
  await admin.patch('/api/v1/admin/settings', { 'smtp.enabled': '0' });
}
