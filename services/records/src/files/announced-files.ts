import { type Database, isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import { heartbeat } from '@recordbus/process/background';
import type { Removals } from './removals.ts';

/** How long an upload counts as running after its last renewal, in SQL. */
const uploadTimeout = "interval '15 minutes'";

/** How often running work renews its announced files, in milliseconds. */
const renewMs = 60_000;

/** A record's or a job's file. */
interface FilePlace {
  readonly collectionId: string;
  readonly recordId: string;
  readonly name: string;
}

/** What an upload says about a stored file, beside its bytes. */
export interface FileFacts {
  /** The sender's name; null when there was none. */
  readonly original: string | null;
  /** In bytes. */
  readonly size: number;
  readonly type: string;
}

/** An announcement's row, with what the commit keeps about its file. Without facts it keeps only the bytes. */
export interface AnnouncedFile extends Partial<FileFacts> {
  readonly id: number;
}

/** The files that running work has announced. Disposed, they are removed unless a commit has kept them. */
export interface AnnouncedFiles extends AsyncDisposable {
  readonly files: readonly AnnouncedFile[];
  /** Resolves to its row's id when the file is listed for removal unless a commit keeps it. */
  announce(file: FilePlace): Promise<number>;
  /** Adds what the commit keeps about a file. */
  describe(id: number, facts: FileFacts): void;
  /** The commit has kept the files. Without this, disposing them costs a statement that finds none. */
  keep(): void;
}

interface AnnounceDeps {
  readonly database: Pick<Database, 'query' | 'write'>;
  readonly removals: Pick<Removals, 'wake'>;
}

/**
 * Announces files before their bytes are written, and renews them while their work runs. If it fails, they are removed:
 * now, or by another replica if this process dies. Without files it costs nothing.
 */
export function openAnnounced({ database: { query, write }, removals }: AnnounceDeps): AnnouncedFiles {
  const files = new Map<number, AnnouncedFile>();
  let endRenewal: (() => void) | undefined;
  let isKept = false;
  return {
    get files() {
      return [...files.values()];
    },
    async announce(file) {
      endRenewal ??= heartbeat(renewMs, () => renewAnnounced(query, [...files.keys()]));
      const id = await announceFile(write, file);
      files.set(id, { id });
      return id;
    },
    describe: (id, facts) => void files.set(id, { id, ...facts }),
    keep() {
      isKept = true;
    },
    async [Symbol.asyncDispose]() {
      endRenewal?.();
      if (files.size > 0 && !isKept) await dropAnnounced(query, [...files.keys()]).then(removals.wake, () => {});
    },
  };
}

/** Lists a file for removal, unless a commit keeps it. Returns the row's id. */
async function announceFile(query: Query, { collectionId, recordId, name }: FilePlace): Promise<number> {
  const [row] = await query<{ id: number }>({
    name: 'announce-file',
    text: `insert into system.file_removals (collection_id, record_id, name, due_at)
values ($1, $2, $3, now() + ${uploadTimeout}) returning id`,
    values: [collectionId, recordId, name],
  });
  if (!row) throw new Error("a file's announcement returned no row");
  return row.id;
}

async function renewAnnounced(query: Query, ids: readonly number[]): Promise<void> {
  await query({
    text: `update system.file_removals set due_at = now() + ${uploadTimeout} where id = any($1::bigint[])`,
    values: [ids],
  });
}

/**
 * Makes announced files due for removal now. Kept files have no row any more, so files may be dropped after an
 * uncertain commit.
 */
async function dropAnnounced(query: Query, ids: readonly number[]): Promise<void> {
  await query({
    text: 'update system.file_removals set due_at = now() where id = any($1::bigint[])',
    values: [ids],
  });
}

/**
 * Keeps announced files with their facts, in the transaction that writes their names. Throws 409 when one was removed
 * meanwhile.
 */
export async function keepAnnounced(query: Query, files: readonly AnnouncedFile[]): Promise<void> {
  const text = `select ${keepAnnouncedSql('$1::jsonb')}`;
  await query({ name: 'keep-announced', text, values: [JSON.stringify(files)] }).catch(explainExpired);
}

/**
 * SQL that keeps announced files in the statement that writes their names. The parameter is the files (jsonb), or null
 * without files. The statement fails if one was removed (`explainExpired`).
 */
export const keepAnnouncedSql = (files: string): string => `system.keep_announced(${files})`;

const uploadExpired = () => conflict('upload_expired', 'the upload took too long; send it again');

/** Throws 409 for a statement that failed because an announced file was removed; throws any other error unchanged. */
export function explainExpired(error: unknown): never {
  throw isDatabaseError(error, sqlState.announcedRemoved) ? uploadExpired() : error;
}

/**
 * Returns a record's files, by name, that have their own rows: those that running uploads have announced, which the
 * removal for a deleted record leaves, and those that are removed separately.
 */
export async function findListed(query: Query, collectionId: string, recordId: string): Promise<ReadonlySet<string>> {
  const rows = await query<{ name: string }>({
    text: 'select name from system.file_removals where collection_id = $1 and record_id = $2 and name is not null',
    values: [collectionId, recordId],
  });
  return new Set(rows.map(({ name }) => name));
}

/** Cancels removing a record's files, in the transaction that writes their names again. */
export async function keepNamed(
  query: Query,
  files: { readonly collectionId: string; readonly recordId: string; readonly names: readonly string[] },
): Promise<void> {
  if (files.names.length === 0) return;
  await query({
    text: 'delete from system.file_removals where collection_id = $1 and record_id = $2 and name = any($3::text[])',
    values: [files.collectionId, files.recordId, files.names],
  });
}

/**
 * Lists the named files for removal instead of all of a deleted record's files: the record is created again, and its
 * later files have to stay. Does nothing when the files are already gone.
 */
export async function narrowRemoval(
  query: Query,
  files: { readonly collectionId: string; readonly recordId: string; readonly names: readonly string[] },
): Promise<void> {
  await query({
    text: `with narrowed as (
  delete from system.file_removals where collection_id = $1 and record_id = $2 and name is null returning id
) insert into system.file_removals (collection_id, record_id, name)
select $1, $2, n.name from unnest($3::text[]) n(name) where exists (select from narrowed)`,
    values: [files.collectionId, files.recordId, files.names],
  });
}

/** Lists a record's files for removal that `keepNamed` kept, but the write no longer names. */
export async function dropNamed(
  query: Query,
  files: { readonly collectionId: string; readonly recordId: string; readonly names: readonly string[] },
): Promise<void> {
  if (files.names.length === 0) return;
  await query({
    text: 'insert into system.file_removals (collection_id, record_id, name) select $1, $2, unnest($3::text[])',
    values: [files.collectionId, files.recordId, files.names],
  });
}
