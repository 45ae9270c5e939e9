import type { Query } from '@recordbus/database';
import type pg from 'pg';

/**
 * Erasures that outlive a restore (privacy §2.7). The restore reads them before it replaces the database, and leaves them in a
 * table that no migration has: an older archive's tables may lack a place for them. The records service takes them over when it
 * starts.
 */
export interface KeptErasure {
  readonly collection_id: string;
  readonly record_id: string;
}

const table = 'system.kept_erasures';

/** Reads the erasures that the database knows, including those that an earlier restore left. */
export async function readErasures(client: pg.Client): Promise<readonly KeptErasure[]> {
  const kept = new Map<string, KeptErasure>();
  for (const [name, condition] of [
    [
      'system.erased_records',
      "where erased_at is not null and job_id in (select id from system.data_jobs where cause <> 'retain')",
    ],
    [table, ''],
  ] as const) {
    const { rows: found } = await client.query<{ is_there: boolean }>(
      'select to_regclass($1) is not null as is_there',
      [name],
    );
    if (!found[0]?.is_there) continue;
    const { rows } = await client.query<KeptErasure>(`select collection_id, record_id from ${name} ${condition}`);
    for (const row of rows) kept.set(`${row.collection_id}/${row.record_id}`, row);
  }
  return [...kept.values()];
}

/** Leaves erasures in the restored database, in the restore's transaction. */
export async function leaveErasures(client: pg.Client, kept: readonly KeptErasure[]): Promise<void> {
  if (kept.length === 0) return;
  await client.query(`create table if not exists ${table} (collection_id text not null, record_id text not null)`);
  await client.query(
    `insert into ${table} select * from jsonb_to_recordset($1) as k (collection_id text, record_id text)`,
    [JSON.stringify(kept)],
  );
}

/** Takes the erasures that a restore left, in the transaction that adds their job; empty without any. */
export async function takeErasures(query: Query): Promise<readonly KeptErasure[]> {
  const [found] = await query<{ is_there: boolean }>({
    text: 'select to_regclass($1) is not null as is_there',
    values: [table],
  });
  if (!found?.is_there) return [];
  await query({ text: `lock table ${table} in access exclusive mode`, values: [] });
  const kept = await query<KeptErasure>({ text: `select distinct collection_id, record_id from ${table}`, values: [] });
  await query({ text: `drop table ${table}`, values: [] });
  return kept;
}
