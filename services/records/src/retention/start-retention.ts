import { type Database, newId, type Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { addDataJob } from '../data-jobs/data-job-store.ts';
import type { ErasureOptions } from '../erasure/erasure.ts';
import { findDue } from './due-records.ts';

interface StartRetentionDeps {
  readonly database: Pick<Database, 'query'>;
  collections(): readonly Collection[];
  wakeJobs(): void;
}

/** Adds a job for each collection that has records whose time is over, unless one is on its way (privacy §3.2). */
export async function startRetention(
  { database: { query }, collections, wakeJobs }: StartRetentionDeps,
  ending: AbortSignal,
): Promise<void> {
  for (const collection of collections()) {
    if (!collection.retain || (await hasUnfinishedJob(query, collection))) continue;
    let position = '';
    for (;;) {
      if (ending.aborted) return;
      const due = await findDue(query, collection, position, 1);
      if (due.ids.length > 0) {
        // The job reads on from here: nothing before it is due.
        await addRetentionJob(query, collection, position);
        wakeJobs();
        break;
      }
      if (due.isEnd) break;
      position = due.position;
    }
  }
}

/** Adds the job that erases a collection's due records after an id. */
export async function addRetentionJob(query: Query, { id, name, retain }: Collection, position: string): Promise<void> {
  const options: ErasureOptions = {
    history: retain?.action === 'redact' ? 'redact' : 'purge',
    files: true,
    dry_run: false,
  };
  await addDataJob(query, {
    id: newId(),
    kind: 'erase',
    cause: 'retain',
    collection_id: id,
    collection_name: name,
    record_id: null,
    actor: { type: 'system', id: null },
    request: { requestId: '', traceparent: '', clientAddress: '' },
    options,
    position,
  });
}

async function hasUnfinishedJob(query: Query, { id }: Collection): Promise<boolean> {
  const rows = await query({
    text: `select from system.data_jobs where state in ('queued', 'running') and cause = 'retain' and collection_id = $1`,
    values: [id],
  });
  return rows.length > 0;
}
