import { commandIsRunning, type Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import { type FileKey, fileKey } from '@recordbus/storage';
import { z } from 'zod';

/** A backup in answers (operation §9.6). */
export const shownBackup = z
  .object({
    id: z.string(),
    state: z.enum(['running', 'done', 'failed']),
    source: z.enum(['request', 'schedule', 'upload']),
    file: z.string().describe("the archive's name"),
    tables: z.int(),
    rows: z.int(),
    files: z.int(),
    missing_files: z.int().describe('files that records name and the store lacks'),
    bytes: z.int(),
    error: z.string().nullable(),
    created_at: z.int().describe('unix seconds'),
    finished_at: z.int().nullable(),
    data_at: z.int().nullable().describe('for an upload: when its backup was made, in unix seconds'),
  })
  .meta({ id: 'Backup' });

export type Backup = z.output<typeof shownBackup>;

const columns = `id, state, source, file, tables, rows, files, missing_files, bytes, error,
  extract(epoch from created_at)::bigint as created_at, extract(epoch from finished_at)::bigint as finished_at,
  extract(epoch from data_at)::bigint as data_at`;

/** An archive's key in the archive store. */
export function archiveKey({ id, file }: Pick<Backup, 'id' | 'file'>): FileKey {
  const key = fileKey('archives', id, file);
  if (!key) throw new Error(`${file} is not an archive name`);
  return key;
}

interface NewBackup {
  readonly id: string;
  readonly source: Backup['source'];
  readonly file: string;
  readonly actor: object;
}

/** Adds a running backup. */
export async function addBackup(query: Query, { id, source, file, actor }: NewBackup): Promise<Backup> {
  const [row] = await query<Backup>({
    text: `insert into system.backups (id, source, file, actor) values ($1, $2, $3, $4) returning ${columns}`,
    values: [id, source, file, JSON.stringify(actor)],
  });
  if (!row) throw new Error('the backup insert returned no row');
  return row;
}

/** Finds a backup. */
export async function findBackup(query: Query, id: string): Promise<Backup | undefined> {
  const [row] = await query<Backup>({ text: `select ${columns} from system.backups where id = $1`, values: [id] });
  return row;
}

/** Finds a backup. Throws 404. */
export async function getBackup(query: Query, id: string): Promise<Backup> {
  const backup = z.uuid().safeParse(id).success ? await findBackup(query, id) : undefined;
  if (!backup) throw notFound('backup');
  return backup;
}

/** Reads a page of backups, newest first, and how many there are. */
export async function listBackups(
  query: Query,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<{ rows: Backup[]; totalItems: number }> {
  const rows = await query<Backup>({
    text: `select ${columns} from system.backups order by created_at desc, id desc limit $1 offset $2`,
    values: [perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)],
  });
  const [count] = await query<{ total: number }>({ text: 'select count(*) as total from system.backups', values: [] });
  return { rows, totalItems: count?.total ?? 0 };
}

type Measured = Pick<Backup, 'tables' | 'rows' | 'files' | 'missing_files' | 'bytes' | 'data_at'>;

/** Notes a backup's progress. Returns whether it is still running: an admin may have deleted it. */
export async function noteBackup(
  query: Query,
  id: string,
  { rows, files, bytes }: Pick<Measured, 'rows' | 'files' | 'bytes'>,
): Promise<boolean> {
  const found = await query({
    text: `update system.backups set rows = $2, files = $3, bytes = $4 where id = $1 and state = 'running' returning 1`,
    values: [id, rows, files, bytes],
  });
  return found.length > 0;
}

/** Marks a backup as done. Returns false if an admin has deleted it. */
export async function completeBackup(query: Query, id: string, measured: Measured): Promise<boolean> {
  const { tables, rows, files, missing_files, bytes, data_at } = measured;
  const found = await query({
    text: `update system.backups set state = 'done', tables = $2, rows = $3, files = $4, missing_files = $5, bytes = $6,
      data_at = to_timestamp($7), finished_at = clock_timestamp() where id = $1 returning 1`,
    values: [id, tables, rows, files, missing_files, bytes, data_at],
  });
  return found.length > 0;
}

/** Ends a backup whose row says that it is running: as failed with the error, or as done without one. */
export async function endBackup(
  query: Query,
  id: string,
  { error, bytes }: { readonly error: string | null; readonly bytes: number },
): Promise<void> {
  await query({
    text: `update system.backups set state = case when $2::text is null then 'done' else 'failed' end, error = $2,
      bytes = $3, finished_at = clock_timestamp() where id = $1 and state = 'running'`,
    values: [id, error, bytes],
  });
}

/** Lists backups whose rows say that they are running: all of them, or only those that no process works on. */
export const listRunning = (query: Query, which: 'all' | 'lost'): Promise<Backup[]> =>
  query<Backup>({
    text: `select ${columns} from system.backups where state = 'running' and ${which === 'all' ? 'true' : `not ${commandIsRunning}`}`,
    values: [],
  });

/** The archives that are kept. */
interface Kept {
  readonly count: number;
  readonly bytes: number;
}

/** Counts and measures the archives that are kept. */
export async function measureKept(query: Query): Promise<Kept> {
  const [row] = await query<Kept>({
    text: `select count(*)::int as count, coalesce(sum(bytes), 0)::bigint as bytes from system.backups where state = 'done'`,
    values: [],
  });
  return row ?? { count: 0, bytes: 0 };
}

/** Lists the schedule's archives beyond the newest ones. */
export const listSurplus = (query: Query, kept: number): Promise<Backup[]> =>
  query<Backup>({
    text: `select ${columns} from system.backups where source = 'schedule' and state = 'done'
      order by created_at desc, id desc offset $1`,
    values: [kept],
  });

/** Deletes the schedule's failures, except the newest. */
export const removeOldFailures = (query: Query): Promise<unknown> =>
  query({
    text: `delete from system.backups where source = 'schedule' and state = 'failed' and id not in
      (select id from system.backups where source = 'schedule' and state = 'failed' order by created_at desc, id desc limit 1)`,
    values: [],
  });

/** Reads the rows with archives, to add them to another version of the table. */
export async function readDone(query: Query): Promise<readonly object[]> {
  const rows = await query<{ row: object }>({
    text: `select to_jsonb(b) as row from system.backups b where state = 'done'`,
    values: [],
  });
  return rows.map(({ row }) => row);
}

/** Adds rows with archives. In its own archive, a backup is running. */
export async function addDone(query: Query, rows: readonly object[]): Promise<void> {
  await query({
    text: `insert into system.backups select * from jsonb_populate_recordset(null::system.backups, $1::jsonb)
      on conflict (id) do update set state = excluded.state, tables = excluded.tables, rows = excluded.rows,
        files = excluded.files, missing_files = excluded.missing_files, bytes = excluded.bytes, error = null,
        finished_at = excluded.finished_at`,
    values: [JSON.stringify(rows)],
  });
}

/** Deletes a backup's row. */
export async function deleteBackup(query: Query, id: string): Promise<boolean> {
  const rows = await query({ text: 'delete from system.backups where id = $1 returning 1', values: [id] });
  return rows.length > 0;
}
