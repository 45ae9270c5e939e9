import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createErasedRecords, type ErasedRecords } from '@recordbus/bus';
import { newId, type Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { skipWithoutDatabase } from './records-fixture.ts';

const job = newId();

/** Lists records as erased now. */
const list = (query: Query, ids: readonly string[]) =>
  query({
    text: `insert into system.erased_records (job_id, collection_id, record_id, erased_at)
      select $1, 'c1', id, date_trunc('milliseconds', clock_timestamp()) from unnest($2::text[]) as given (id)`,
    values: [job, ids],
  });

describe('the erased records that a process knows', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let erased: ErasedRecords;
  let rowsRead = 0;

  const knows = (id: string) => erased.isErasedSince({ collectionId: 'c1', id }, 0);
  /** Reads what is new. Returns how many rows that were. */
  const read = async () => {
    rowsRead = 0;
    await erased.refresh();
    return rowsRead;
  };

  /** Waits for transactions in the server's other databases, too: until they end, later rows are read again. */
  const nothingIsNew = () => eventually(async () => (await read()) === 0);

  before(async () => {
    temporary = await openTemporaryDatabase();
    const { query } = temporary.database;
    await query({
      text: `insert into system.data_jobs (id, kind, cause, collection_id, collection_name, actor, request, options)
        values ($1, 'erase', 'request', 'c1', 'c1', '{}', '{}', '{}')`,
      values: [job],
    });
    await list(query, ['first', 'long ago', 'without messages']);
    await query({
      text: `update system.erased_records set erased_at = case record_id when 'long ago' then now() - interval '8 days' else erased_at end,
        has_messages = record_id <> 'without messages'`,
      values: [],
    });
    const counting: Query = async (statement) => {
      const rows = await query(statement);
      if (statement.name === 'erased-records.read') rowsRead += rows.length;
      return rows as never;
    };
    const bus = { onNotice: () => () => {} };
    erased = createErasedRecords({ query: counting, bus, log: createLogger('test', 'silent') });
    await erased.start();
  });
  after(async () => {
    await erased?.stop();
    await temporary?.remove();
  });

  it('leaves out what the stream no longer has', () => {
    assert.deepEqual(['first', 'long ago', 'without messages'].map(knows), [true, false, false]);
  });

  it('reads a row once', async () => {
    await list(temporary.database.query, ['second']);
    await read();
    assert.ok(knows('second'));
    await nothingIsNew();
  });

  it('reads a retention in parts, all of it', async () => {
    const ids = Array.from({ length: 25_000 }, (_, index) => `r${index}`);
    await list(temporary.database.query, ids);
    assert.ok((await read()) >= ids.length);
    assert.ok(ids.every(knows));
    await nothingIsNew();
  });

  it('misses no row of a transaction that commits later than a newer one', async () => {
    await temporary.database.transaction(async (query) => {
      await list(query, ['early']);
      await list(temporary.database.query, ['late']);
      await read();
      assert.deepEqual([knows('early'), knows('late')], [false, true]);
    });
    await read();
    assert.ok(knows('early'));
  });
});
