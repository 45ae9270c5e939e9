import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createValueCipher } from '@recordbus/crypto';
import { eventually } from '@recordbus/testing';
import { type Answer, type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const cipher = createValueCipher('a passphrase of a test');

describe('a write beside a field that is being decrypted', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    const vault = (name: string) => testCollection(name, [{ name: 'note', options: { encrypted: true } }]);
    records = await startRecords(['made', 'changed', 'batched'].map(vault), { cipher });
  });
  after(() => records?.stop());

  const run = (text: string, ...values: unknown[]) => records.database.query<Record<string, unknown>>({ text, values });

  /** Sends a write that waits for the table, and decrypts the field before the write gets it. */
  async function writeDuringDecryption(name: string, write: () => Promise<Answer>): Promise<Answer> {
    const answer = await records.database.transaction(async (query) => {
      await query({ text: `lock table records.${name} in access exclusive mode`, values: [] });
      const sent = write();
      const waits = `select from pg_locks where not granted and relation = 'records.${name}'::regclass`;
      await eventually(async () => (await run(waits)).length > 0);
      const [row] = await query<{ fields: { name: string; options: object }[] }>({
        text: 'select fields from system.collections where name = $1',
        values: [name],
      });
      const fields = row?.fields.map((field) => (field.name === 'note' ? { ...field, options: {} } : field));
      await query({
        text: 'update system.collections set fields = $2 where name = $1',
        values: [name, JSON.stringify(fields)],
      });
      await query({ text: "update system.versions set version = version + 1 where name = 'schema'", values: [] });
      await query({ text: `update records.${name} set note = 'decrypted'`, values: [] });
      return { sent };
    });
    return answer.sent;
  }

  const notesIn = async (name: string) =>
    (await run(`select note from records.${name} order by id`)).map((row) => row.note);

  it('creates a record with a plain value', async () => {
    const created = await writeDuringDecryption('made', () =>
      records.send('POST', '/api/made', { as: 'admin', body: { note: 'plain' } }),
    );
    assert.equal(created.record.note, 'plain', created.text);
    assert.deepEqual(await notesIn('made'), ['plain']);
  });

  it('changes a record to a plain value', async () => {
    const { record } = await records.send('POST', '/api/changed', { as: 'admin', body: { note: 'old' } });
    const changed = await writeDuringDecryption('changed', () =>
      records.send('PATCH', `/api/changed/${record.id}`, { as: 'admin', body: { note: 'plain' } }),
    );
    assert.equal(changed.record.note, 'plain', changed.text);
    assert.deepEqual(await notesIn('changed'), ['plain']);
  });

  it('writes plain values in a batch', async () => {
    const operations = Array.from({ length: 3 }, () => ({
      op: 'create',
      collection: 'batched',
      data: { note: 'plain' },
    }));
    const { status, text } = await writeDuringDecryption('batched', () =>
      records.send('POST', '/api/v1/batch', { as: 'admin', body: { operations } }),
    );
    assert.equal(status, 200, text);
    assert.deepEqual(await notesIn('batched'), ['plain', 'plain', 'plain']);
  });
});
