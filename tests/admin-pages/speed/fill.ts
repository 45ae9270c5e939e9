import type { Client } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';

const importRows = 50_000;
const importTimeoutMs = 600_000;

/** Imports records into their own collection, in parts. */
export async function fillMany(admin: Client, count: number): Promise<void> {
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'stock', type: 'number' },
  ];
  await admin.post('/api/v1/collections', { name: 'million', fields });
  for (let from = 0; from < count; from += importRows) {
    const length = Math.min(importRows, count - from);
    const rows = Array.from({ length }, (_, index) => `record ${from + index},${index % 997}`);
    const sent = await admin.send('POST', '/api/v1/records/million/import?events=none', {
      rawBody: ['title,stock', ...rows].join('\n'),
      headers: { 'Content-Type': 'text/csv' },
    });
    const job = textAt(sent.json, 'data.id');
    const isDone = async () => textAt((await admin.get(`/api/v1/jobs/${job}`)).json, 'data.state') === 'done';
    await eventually('the import is done', isDone, { timeoutMs: importTimeoutMs });
  }
}

/** Creates a collection with 200 fields and 50 records. */
export async function fillWide(admin: Client): Promise<void> {
  const fields = Array.from({ length: 200 }, (_, index) => ({ name: `field_${index}`, type: 'text' }));
  await admin.post('/api/v1/collections', { name: 'wide', fields });
  for (let row = 0; row < 50; row += 1)
    await admin.create('wide', Object.fromEntries(fields.map(({ name }) => [name, `${name} of ${row}`])));
}

/** Creates collections until the stack has 500. */
export async function fillCollections(admin: Client, existing: number): Promise<void> {
  for (let index = existing; index < 500; index += 1) {
    const name = `collection_${String(index).padStart(3, '0')}`;
    await admin.post('/api/v1/collections', { name, fields: [{ name: 'title', type: 'text' }] });
  }
}

/** Creates as many records a second as need deliveries, until the signal aborts. */
export async function deliver(admin: Client, perMinute: number, signal: AbortSignal): Promise<void> {
  const perSecond = Math.ceil(perMinute / 60);
  while (!signal.aborted) {
    const begunAtMs = performance.now();
    const operations = Array.from({ length: perSecond }, (_, index) => ({
      op: 'create',
      collection: 'sent',
      data: { title: `item ${index}` },
    }));
    await admin.send('POST', '/api/v1/batch', { body: { operations } });
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 - (performance.now() - begunAtMs))));
  }
}
