import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '@recordbus/database';
import { eventually } from '@recordbus/testing';
import { announceArchive, archiveKey, deleteExports } from '../src/data-jobs/archive-store.ts';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';

describe('an archive whose account is erased while it is written', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startRecords([]);
  });
  after(() => records?.stop());

  const removals = (condition: string) =>
    records.database.query({ text: `select from system.file_removals where ${condition}`, values: [] });

  it('goes, though its process writes it after the erasure and dies before it can delete it [privacy §4.3]', async () => {
    const { query } = records.database;
    const id = newId();
    await query({
      text: `insert into system.data_jobs (id, kind, cause, state, collection_id, collection_name, record_id, actor, request, options,
          lease_until)
        values ($1, 'export', 'request', 'running', 'c1', 'people', 'p1', '{}', '{}', '{}', now() + interval '1 hour')`,
      values: [id],
    });
    await announceArchive(query, id, '1.zip');
    assert.equal(await deleteExports(query, 'c1', ['p1']), 1);
    await eventually(async () => (await removals('due_at <= now()')).length === 0);
    const key = archiveKey(id, '1.zip');
    async function* bytes() {
      yield Buffer.from('all that the person has');
    }
    await records.storage.put(key, bytes());
    assert.equal((await removals('due_at > now()')).length, 1);
    await query({ text: 'update system.file_removals set due_at = now()', values: [] });
    await eventually(async () => (await records.storage.find(key)) === undefined);
  });
});
