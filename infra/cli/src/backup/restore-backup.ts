import { createReadStream } from 'node:fs';
import {
  type ArchiveEntry,
  createTableLoader,
  dataFolder,
  filesFolder,
  keyEntry,
  type Manifest,
  manifestEntry,
  readArchive,
  readManifest,
  restoreSequences,
  schemaDocument,
  schemaEntry,
  secretEntry,
  sequencesDocument,
  sequencesEntry,
} from '@recordbus/backup';
import { ownSchemas } from '@recordbus/encryption';
import { CommandFailure } from '@recordbus/stack-calls';
import { fileKey, type Storage } from '@recordbus/storage';
import type pg from 'pg';

/** What was restored from an archive, and the secrets that the caller has to store. */
export interface Restored {
  readonly manifest: Manifest;
  readonly rows: number;
  readonly files: number;
  readonly secret: string | undefined;
  readonly key: string | undefined;
}

interface RestoreTarget {
  readonly client: pg.Client;
  /** Receives the files; services do not read from it yet. Undefined for an archive without files. */
  readonly storage: Storage | undefined;
  /** Whether to drop the schemas that the database has. */
  readonly replaces: boolean;
  /** Whether the stream that the archive's events went to stays in use, so that no event is published again. */
  readonly keepsStream?: boolean;
  /** Stops reading the archive. */
  readonly signal?: AbortSignal;
}

/**
 * Restores an archive in the transaction of the connection; roll back when it throws. Throws CommandFailure for an archive
 * that is incomplete or damaged.
 */
export async function restoreBackup(
  file: string,
  { client, storage, replaces, keepsStream = false, signal }: RestoreTarget,
): Promise<Restored> {
  if (replaces) await client.query(`drop schema if exists ${ownSchemas.join(', ')} cascade`);
  await client.query("set local search_path = ''");
  await client.query('set local check_function_bodies = off');
  const run = async (statements: readonly string[]): Promise<void> => {
    for (const statement of statements) await client.query(statement);
  };

  let described: Manifest | undefined;
  let after: readonly string[] = [];
  let loader: ReturnType<typeof createTableLoader> | undefined;
  let rows = 0;
  let files = 0;
  let secret: string | undefined;
  let key: string | undefined;
  for await (const entry of readArchive(createReadStream(file, { signal }))) {
    const { name } = entry;
    if (name === manifestEntry) described = await readManifest(entry);
    else if (name === schemaEntry) {
      const schema = schemaDocument.parse(JSON.parse(await entry.text()));
      await run(schema.before);
      loader = createTableLoader(client, schema.tables);
      after = schema.after;
    } else if (name.startsWith(dataFolder)) await loader?.take(entry);
    else if (name === sequencesEntry) {
      rows = (await loader?.finish()) ?? 0;
      await restoreSequences(client, sequencesDocument.parse(JSON.parse(await entry.text())));
      await run(after);
    } else if (name.startsWith(filesFolder) && storage) {
      await putFile(storage, entry);
      files += 1;
    } else if (name === secretEntry) secret = await entry.text();
    else if (name === keyEntry) key = await entry.text();
  }
  if (!described) throw new CommandFailure('This is not a Recordbus backup.');
  if (!keepsStream) await requeueEvents(client, described.handed_out_up_to);
  return { manifest: described, rows, files, secret, key };
}

async function putFile(storage: Storage, { name, stream }: ArchiveEntry): Promise<void> {
  const [collectionId = '', recordId = '', fileName = '', ...rest] = name.slice(filesFolder.length).split('/');
  const key = rest.length === 0 ? fileKey(collectionId, recordId, fileName) : undefined;
  if (!key) throw new CommandFailure(`The archive is damaged: ${name} is not a file name.`);
  await storage.put(key, stream);
}

/**
 * Cleans the outbox after a restore, for any stream that the restored deployment may have. It deletes published events
 * whose deliveries existed at the backup, because they must not be sent again. It queues the other events again under
 * the same ids, because the stream may never have had them.
 */
async function requeueEvents(client: pg.Client, processedUpTo: number | null): Promise<void> {
  await client.query(
    `delete from system.outbox o where o.published_at is not null
       and (o.stream_sequence <= $1::bigint or exists (select from system.events e where e.id = o.event_id))`,
    [processedUpTo],
  );
  await client.query(
    `update system.outbox set published_at = null, stream_sequence = null where published_at is not null and body <> ''`,
  );
}
