import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createValueCipher } from '@recordbus/crypto';
import { type Database, newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { mailText, type ReceivedMail } from '../src/extensions/jobs/stored-mail.ts';
import { eraseMailsFrom } from '../src/inbound-mail/erase-mails.ts';

const ada = 'ada@example.com';
const bob = 'bob@example.com';
const cipher = createValueCipher('the deployment key');

const mailbox = (address: string) => ({ name: '', address });
const mailFrom = (address: string | null, more: Partial<ReceivedMail> = {}): ReceivedMail => ({
  provider: 'postmark',
  message_id: null,
  in_reply_to: null,
  references: [],
  from: address === null ? null : mailbox(address),
  reply_to: [],
  to: [],
  cc: [],
  recipients: [],
  subject: '',
  text: null,
  html: null,
  headers: [],
  attachments: [],
  incomplete: false,
  ...more,
});

describe('erasing mails that came in', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary?.remove());

  const run = <Row>(text: string, ...values: readonly unknown[]) => database.query<Row>({ text, values: [...values] });

  /** Stores a mail with a job in a state. Returns the mail's id. */
  async function store(mail: ReceivedMail, state = 'pending', encrypting = cipher): Promise<string> {
    const id = newId();
    const content = encrypting.encrypt(mailText(mail));
    await run('insert into system.inbound_mails (id, content, bytes) values ($1, $2, $3)', id, content, content.length);
    await run(
      `insert into system.extension_jobs (id, extension, name, input, state, mail_id, error)
        values ($1, 'desk', 'onMail', '{"message_id": "<one@example.com>"}', $2, $3, 'cannot read it')`,
      newId(),
      state,
      id,
    );
    return id;
  }

  const stored = async () =>
    new Set((await run<{ id: string }>('select id from system.inbound_mails')).map(({ id }) => id));
  const jobOf = async (mail: string) =>
    (
      await run<{ state: string; input: object; error: string | null }>(
        'select state, input, error from system.extension_jobs where mail_id = $1',
        mail,
      )
    )[0];

  it('takes those from an address, among many and however long, and their jobs [privacy §2.2]', async () => {
    const large = 'x'.repeat(2 ** 20);
    const own = [
      await store(mailFrom('Ada@Example.com')),
      await store(mailFrom(null, { reply_to: [mailbox(bob), mailbox(ada)] }), 'running'),
      await store(mailFrom(ada, { text: large, html: large }), 'dead'),
    ];
    for (let n = 0; n < 250; n += 1) await store(mailFrom(bob));
    for (let n = 0; n < 12; n += 1) await store(mailFrom(bob, { text: large }));
    own.push(await store(mailFrom(ada, { subject: 'the last' })));
    const before = await stored();
    assert.equal(await eraseMailsFrom(database.query, cipher, [ada]), own.length);
    const left = await stored();
    assert.deepEqual([...before].filter((id) => !left.has(id)).toSorted(), own.toSorted());
    const jobs = await Promise.all(own.map(jobOf));
    assert.deepEqual(
      jobs.map((job) => job?.state),
      ['cancelled', 'cancelled', 'dead', 'cancelled'],
    );
    for (const job of jobs) assert.deepEqual([job?.input, job?.error], [{}, null]);
    assert.equal(await eraseMailsFrom(database.query, cipher, [ada]), 0);
  });

  it("leaves others' mails, whatever they say, and what cannot be decrypted [privacy §2.2]", async () => {
    const others = [
      await store(mailFrom(bob, { to: [mailbox(ada)], subject: ada, text: `${ada} has asked for this` })),
      await store(mailFrom(`not.${ada}`)),
      await store(mailFrom(`${ada}.evil.example`)),
      await store(mailFrom(null)),
      await store(mailFrom(ada), 'pending', createValueCipher('another key')),
    ];
    assert.equal(await eraseMailsFrom(database.query, cipher, [ada]), 0);
    assert.equal(await eraseMailsFrom(database.query, cipher, []), 0);
    const left = await stored();
    for (const [index, id] of others.entries()) {
      assert.ok(left.has(id), `${index}`);
      assert.equal((await jobOf(id))?.state, 'pending');
    }
  });

  it('frees their bytes for other mails', async () => {
    const sums = async () =>
      (
        await run<{ counted: number; stored: number }>(
          `select (select sum(bytes) from system.mail_bytes where kind = 'inbound_mails')::float8 as counted,
            (select sum(bytes) from system.inbound_mails)::float8 as stored`,
        )
      )[0];
    const row = await sums();
    assert.ok(row && row.stored > 0);
    assert.equal(row.counted, row.stored);
  });
});
