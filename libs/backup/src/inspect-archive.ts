import type { Readable } from 'node:stream';
import { compareTables } from '@recordbus/database';
import {
  archiveFormat,
  dataFolder,
  filesFolder,
  keyEntry,
  type Manifest,
  manifest,
  manifestEntry,
  schemaDocument,
  schemaEntry,
} from './manifest.ts';
import { type ArchiveEntry, type ArchiveLimits, ArchiveRefused, readArchive, refusalOf } from './read-archive.ts';
import { linesIn } from './table-data.ts';

/** What a complete archive holds. */
export interface ArchiveContents {
  readonly manifest: Manifest;
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  /** The bytes of rows and files, as a restore writes them. */
  readonly unpackedBytes: number;
  /** The key file's text, if it is in the archive. */
  readonly key: string | undefined;
}

/**
 * Reads an archive to its end and validates it. Throws ArchiveRefused for a file that is not a backup, is incomplete,
 * comes from a newer version, or from one that is too old.
 */
export async function inspectArchive(input: Readable, limits?: ArchiveLimits): Promise<ArchiveContents> {
  let described: Manifest | undefined;
  let key: string | undefined;
  const counted = { tables: 0, rows: 0, files: 0, unpackedBytes: 0 };
  try {
    for await (const entry of readArchive(input, limits)) {
      const { name } = entry;
      if (!described) described = await readManifest(entry);
      else if (name === schemaEntry) counted.tables = await countTables(entry);
      else if (name === keyEntry) key = await entry.text();
      else {
        const isRows = name.startsWith(dataFolder);
        if (name.startsWith(filesFolder)) counted.files += 1;
        for await (const chunk of entry.stream as AsyncIterable<Buffer>) {
          counted.unpackedBytes += chunk.length;
          if (isRows) counted.rows += linesIn(chunk);
        }
      }
    }
  } catch (error) {
    // An entry's stream fails in this loop, and not in the reader.
    throw refusalOf(error);
  }
  if (!described) throw new ArchiveRefused('The archive is empty.');
  return { manifest: described, ...counted, key };
}

/** Reads an archive's first entry. Throws ArchiveRefused if it is not the manifest of an archive for this version. */
export async function readManifest(entry: ArchiveEntry): Promise<Manifest> {
  const read = entry.name === manifestEntry ? manifest.safeParse(JSON.parse(await entry.text())) : undefined;
  if (!read?.success) throw new ArchiveRefused('This is not a Recordbus backup.');
  const { unknown, tooOld } = compareTables(read.data.migrations);
  if (read.data.format > archiveFormat || unknown.length > 0)
    throw new ArchiveRefused(
      `The backup was made by a newer version (${unknown.at(-1) ?? `format ${read.data.format}`}): restore it with that version.`,
    );
  if (tooOld) throw new ArchiveRefused(`${tooOld.reason} Restore the backup with its own version. ${tooOld.remedy}`);
  return read.data;
}

async function countTables(entry: ArchiveEntry): Promise<number> {
  const read = schemaDocument.safeParse(JSON.parse(await entry.text()));
  if (!read.success) throw new ArchiveRefused('The archive is damaged: its schema cannot be read.');
  return read.data.tables.length;
}
