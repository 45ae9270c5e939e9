import { Readable } from 'node:stream';
import type { Database } from '@recordbus/database';
import { AppError, notFound } from '@recordbus/errors';
import type { QuerySchema } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { type Collection, type FieldEncryption, tableOf } from '@recordbus/schema';
import { fileKey, type Storage } from '@recordbus/storage';
import { announceArchive, archiveDays, archiveKey, forgetArchive, keepArchive } from '../data-jobs/archive-store.ts';
import { noteResult } from '../data-jobs/data-job-store.ts';
import { fileFieldsOf, fileNamesIn } from '../files/file-changes.ts';
import type { RunJob } from '../jobs/worker.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { composeExport } from '../transfer/export/compose-export.ts';
import { type ExportReads, openExport } from '../transfer/export/open-export.ts';
import { type AccountEntry, readAccountEntries } from './account-parts.ts';
import type { Archive, OwnDataJob } from './own-data.ts';
import { contextOf, type OwnPart, ownParts } from './own-records.ts';
import { ArchiveTooLarge, createZip, type ZipWriter } from './zip-file.ts';

interface OwnDataDeps {
  /** Connections for background work. */
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly exports: ExportReads;
  readonly encryption: FieldEncryption;
  readonly storage: Storage;
  readonly schema: QuerySchema;
  collections(): readonly Collection[];
  reload(): Promise<void>;
  /** Removes archives that have ended. */
  wakeRemovals(): void;
}

/** How large an archive may be. */
const maxArchiveBytes = 10 * 2 ** 30;

/** Creates the function that exports a person's own data into an archive (privacy §4). An attempt that fails begins again. */
export const createRunOwnData =
  (deps: OwnDataDeps): RunJob<OwnDataJob> =>
  async (job, ending) => {
    const { database, storage, collections } = deps;
    await deps.reload();
    const accounts = collections().find(({ id }) => id === job.collection_id);
    const principal = accounts && (await findPrincipal(deps, accounts, job.record_id ?? ''));
    if (!accounts || !principal) throw notFound('account');
    const entries = await readAccountEntries(database.query, accounts.id, principal.id);
    const name = `${job.fence}.zip`;
    const key = archiveKey(job.id, name);
    await announceArchive(database.query, job.id, name);
    const zip = createZip(maxArchiveBytes);
    const storing = storage.put(key, zip.bytes);
    storing.catch((error) => zip.fail(error));
    const parts = ownParts(accounts, principal.id, collections());
    const writing = writeParts(deps, zip, { entries, parts }, contextOf(principal, deps.schema), ending);
    try {
      const [counts, { sizeBytes }] = await Promise.all([
        writing.catch((error) => {
          zip.fail(error instanceof Error ? error : new Error(String(error)));
          throw error;
        }),
        storing,
      ]);
      const until = Math.floor(Date.now() / 1000) + archiveDays * 86_400;
      const archive: Archive = { name, bytes: sizeBytes, ...counts, until };
      await database.transaction(async (query) => {
        await noteResult(query, job, archive);
        await keepArchive(query, job, name);
      });
    } catch (error) {
      await Promise.allSettled([writing, storing]);
      await storage.delete(key);
      await forgetArchive(database.query, job.id, name);
      if (ending.aborted) return 'interrupted';
      throw asFailure(error);
    }
    deps.wakeRemovals();
    return 'done';
  };

/** Only an archive that is too large fails for good. A refusal, such as without a free connection, leads to another attempt. */
function asFailure(error: unknown): unknown {
  if (error instanceof ArchiveTooLarge) return new AppError(422, 'archive_too_large', error.message);
  return error instanceof AppError ? new Error(error.message, { cause: error }) : error;
}

type User = Extract<Principal, { type: 'user' }>;

async function findPrincipal({ database }: OwnDataDeps, collection: Collection, id: string): Promise<User | undefined> {
  const [row] = await database.query<{ email: string | null; verified: boolean | null; is_anonymous: boolean }>({
    text: `select email, verified, is_anonymous from ${tableOf(collection)} where id = $1`,
    values: [id],
  });
  if (!row) return undefined;
  const { email, verified, is_anonymous: anonymous } = row;
  return {
    type: 'user',
    id,
    email: email ?? '',
    verified: verified === true,
    collection: collection.name,
    anonymous,
    impersonatedBy: null,
  };
}

interface Counts {
  readonly records: number;
  readonly files: number;
}

interface Content {
  readonly entries: readonly AccountEntry[];
  readonly parts: readonly OwnPart[];
}

async function writeParts(
  deps: OwnDataDeps,
  zip: ZipWriter,
  { entries, parts }: Content,
  context: RuleContext,
  ending: AbortSignal,
): Promise<Counts> {
  let [records, files] = [0, 0];
  for (const { path, text } of entries) await zip.add(path, Readable.from([Buffer.from(text)]), { isCompressed: true });
  for (const part of parts) {
    ending.throwIfAborted();
    const request = {
      format: 'ndjson',
      filter: part.filter,
      sort: 'id',
      fields: undefined,
      expand: undefined,
    } as const;
    const stream = await openExport(
      deps.exports,
      part.collection,
      { ...request, bom: false, raw: false },
      context,
      deps.encryption,
    );
    records += await addCounted(zip, `records/${part.collection.name}.ndjson`, stream);
    if (fileFieldsOf(part.collection).length > 0) files += await addFiles(deps, zip, part, context, ending);
  }
  zip.end();
  return { records, files };
}

const newline = 10;

/** Adds JSON lines, and returns how many there are. */
async function addCounted(zip: ZipWriter, path: string, stream: Readable): Promise<number> {
  let lines = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      for (const byte of chunk) if (byte === newline) lines += 1;
      yield chunk;
    }
  }
  await zip.add(path, Readable.from(counted(), { objectMode: false }), { isCompressed: true });
  return lines;
}

/** Adds the files of a part's records, page by page: a connection is not held while a file is read. */
async function addFiles(
  { exports, storage }: OwnDataDeps,
  zip: ZipWriter,
  { collection, filter }: OwnPart,
  context: RuleContext,
  ending: AbortSignal,
): Promise<number> {
  const fields = ['id', ...fileFieldsOf(collection).map(({ name }) => name)].join(',');
  let files = 0;
  let last = '';
  for (;;) {
    const paged = {
      filter: last === '' ? filter : `(${filter}) && id > "${last}"`,
      sort: 'id',
      fields,
      expand: undefined,
    };
    const composed = composeExport(collection, paged, { ...context, maxBytes: exports.maxRecordBytes() });
    const cursor = await exports.openCursor(composed.statement);
    const rows = await cursor.next().finally(cursor.close);
    if (rows.length === 0) return files;
    for (const row of rows) {
      const record = JSON.parse(row) as { readonly id: string };
      last = record.id;
      for (const name of fileNamesIn(collection, record)) {
        ending.throwIfAborted();
        const key = fileKey(collection.id, record.id, name);
        const stream = key && (await storage.open(key));
        if (!stream) continue;
        await zip.add(`files/${collection.name}/${record.id}/${name}`, stream, { isCompressed: false });
        files += 1;
      }
    }
  }
}
