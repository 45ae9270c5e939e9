import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { newId } from '@recordbus/database';
import { tableOf } from '@recordbus/schema';
import { eventually } from '@recordbus/testing';
import { announceArchive, archiveKey, deleteExports, forgetArchive } from '../src/data-jobs/archive-store.ts';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const fields = [
  { name: 'email', type: 'email', system: true, required: true },
  { name: 'verified', type: 'bool', system: true },
] as const;
const people = testCollection('people', fields, { type: 'auth' });
const person = 'person-with-an-archive';

describe('an archive of an account that is erased', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startRecords([people]);
  });
  after(() => records?.stop());
  beforeEach(async () => {
    await run('delete from system.file_removals');
    await run(`insert into ${tableOf(people)} (id, created_at, updated_at, email)
      values ('${person}', 1, 1, 'person@example.com') on conflict do nothing`);
  });

  const run = <Row>(text: string, ...values: readonly unknown[]) =>
    records.database.query<Row>({ text, values: [...values] });
  const removals = (condition: string) => run(`select from system.file_removals where ${condition}`);

  /** Adds the person's export. One that is running is held by a process that this test plays. */
  async function addExport(state: 'done' | 'running'): Promise<string> {
    const id = newId();
    await run(
      `insert into system.data_jobs (id, kind, cause, state, collection_id, collection_name, record_id, actor, request, options,
          lease_until)
        values ($1, 'export', 'request', $2, $3, 'people', $4, '{}', '{}', '{}', now() + interval '1 hour')`,
      id,
      state,
      people.id,
      person,
    );
    await announceArchive(records.database.query, id, '1.zip');
    return id;
  }

  async function* bytes() {
    yield Buffer.from('all that the person has');
  }

  async function askErasure(): Promise<string> {
    const answer = await records.send('POST', `/api/v1/admin/erase/people/${person}`, { as: 'admin', body: {} });
    assert.equal(answer.status, 202, answer.text);
    return answer.record.id;
  }

  const stateOf = async (job: string): Promise<unknown> => {
    const { json } = await records.send('GET', `/api/v1/jobs/${job}`, { as: 'admin' });
    return Object(json.data).state;
  };

  it('is gone when the erasures are done, several at once too [privacy §4.3]', async () => {
    const key = archiveKey(await addExport('done'), '1.zip');
    await records.storage.put(key, bytes());
    const jobs = await Promise.all([1, 2, 3].map(askErasure));
    for (const job of jobs)
      await eventually(async () => {
        const state = await stateOf(job);
        // Asked for before the file, so a job that is done has left none.
        const isThere = (await records.storage.find(key)) !== undefined;
        assert.ok(state !== 'done' || !isThere, 'the certificate came before the end of the archive');
        return state === 'done';
      });
  });

  it('goes with its writer, which the erasure waits for [privacy §4.3]', async () => {
    const id = await addExport('running');
    const job = await askErasure();
    await eventually(
      async () => (await run(`select from system.data_jobs where id = $1 and step = 'files'`, job)).length === 1,
    );
    const key = archiveKey(id, '1.zip');
    await records.storage.put(key, bytes());
    const states = await run<{ state: string }>(
      `select state from system.data_jobs where id = $1 and step = 'files' and exists (
          select from system.file_removals where record_id = $2 and due_at < now() + interval '1 minute'
        )`,
      job,
      id,
    );
    for (const { state } of states) assert.equal(state, 'running');
    await records.storage.delete(key);
    await forgetArchive(records.database.query, id, '1.zip');
    await eventually(async () => (await stateOf(job)) === 'done');
  });

  it('goes without its writer, which the erasure waits for only as long as a lease lasts [privacy §4.3]', async () => {
    const id = await addExport('running');
    const key = archiveKey(id, '1.zip');
    await records.storage.put(key, bytes());
    const job = await askErasure();
    await eventually(async () => (await run('select from system.data_jobs where id = $1', id)).length === 0);
    assert.equal((await removals(`due_at between now() and now() + interval '1 minute'`)).length, 1);
    await run(`update system.file_removals set due_at = now() where due_at < now() + interval '1 minute'`);
    await eventually(async () => (await stateOf(job)) === 'done');
    assert.equal(await records.storage.find(key), undefined);
  });

  it('goes, though its process writes it after the erasure and dies before it can delete it [privacy §4.3]', async () => {
    const id = await addExport('running');
    assert.deepEqual(await deleteExports(records.database.query, people.id, [person]), [id]);
    await run(`update system.file_removals set due_at = now() where due_at < now() + interval '1 minute'`);
    await eventually(async () => (await removals('due_at <= now()')).length === 0);
    const key = archiveKey(id, '1.zip');
    await records.storage.put(key, bytes());
    assert.equal((await removals('due_at > now()')).length, 1);
    await run('update system.file_removals set due_at = now()');
    await eventually(async () => (await records.storage.find(key)) === undefined);
  });
});
