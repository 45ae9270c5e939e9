import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Database, newId, type Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { enqueueMessage } from './enqueue-message.ts';

const cipher = { encrypt: (text: string) => text };

describe('the bytes of messages that wait', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary?.remove());

  const run = <Row>(text: string, ...values: readonly unknown[]) => database.query<Row>({ text, values: [...values] });
  const mailbox = (address: string) => ({ name: '', address });
  const enqueue = (query: Query, text: string) =>
    enqueueMessage(
      { query, cipher },
      {
        to: [mailbox('ada@example.com')],
        cc: [mailbox('carl@example.com')],
        bcc: [],
        replyTo: [],
        subject: 'Hello',
        text,
        headers: {},
        messageId: '<one@example.com>',
        attachments: [],
      },
      undefined,
    );

  /** Returns the counted and the stored bytes. */
  async function sums() {
    const [row] = await run<{ counted: number; stored: number }>(
      `select (select coalesce(sum(bytes), 0) from system.mail_bytes where kind = 'mail_contents')::float8 as counted,
        (select coalesce(sum(bytes), 0) from system.mail_contents)::float8 as stored`,
    );
    assert.ok(row);
    return row;
  }

  it('are counted, whatever commits, rolls back or ends at once', async () => {
    const inOne = (text: string, undo: boolean) =>
      database.transaction(async (query) => {
        await enqueue(query, text);
        await enqueue(query, `${text} again`);
        if (undo) throw new Error('undone');
      });
    const work = Array.from({ length: 40 }, (_, n) => inOne('x'.repeat(100 * n), n % 3 === 0));
    const outcomes = await Promise.allSettled(work);
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 14);
    const { counted, stored } = await sums();
    assert.ok(stored > 0);
    assert.equal(counted, stored);
    await Promise.all([
      ...Array.from({ length: 10 }, (_, n) => enqueue(database.query, `m ${n}`)),
      run(`delete from system.mail_queue where recipient = 'ada@example.com'`),
      run(`delete from system.mail_queue where recipient = 'carl@example.com'`),
    ]);
    await run('delete from system.mail_queue');
    assert.deepEqual(await sums(), { counted: 0, stored: 0 });
  });

  it('do not make a message wait for a transaction that has added one', async () => {
    await database.transaction(async (query) => {
      await enqueue(query, 'first');
      await enqueue(database.query, 'second');
    });
    const { counted, stored } = await sums();
    assert.equal(counted, stored);
  });

  it('are at most 256 MiB: more is 503 until some have gone [mail §5.1]', async () => {
    const id = newId();
    await run(`insert into system.mail_contents (id, content, bytes) values ($1, '', 256 * 1024 * 1024)`, id);
    await assert.rejects(enqueue(database.query, 'too much'), { status: 503, code: 'mail_queue_full' });
    await run('delete from system.mail_contents where id = $1', id);
    await enqueue(database.query, 'enough room');
  });
});
