import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ArchiveRefused, inspectArchive } from '@recordbus/backup';
import {
  archiveToRestore,
  endRestore,
  findRestoreNote,
  isUnderWay,
  type RestoreNote,
  writeRestoreNote,
} from '@recordbus/backup/restore-note';
import type { Query } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import type { Storage } from '@recordbus/storage';
import { addDone, archiveKey, type Backup, readDone } from './backup-rows.ts';
import { reasonOf } from './command-session.ts';

/** Where the process that runs the stack looks for restores. */
export interface RestorePlace {
  readonly directory: string;
  /** This deployment's encryption key; undefined if values are not encrypted. */
  readonly encryptionKey: string | undefined;
}

/** Restores that are ordered through the API (operation §9.7). */
export interface Restores {
  readonly isAvailable: boolean;
  /** The newest restore. */
  find(): RestoreNote | undefined;
  /** Checks a backup's archive, then leaves it to the process that runs the stack. Throws 409. */
  order(backup: Backup): Promise<RestoreNote>;
  /** After a restore: lists the archives again that the restored database does not know. */
  relist(): Promise<void>;
  stop(): Promise<void>;
}

const unavailable = () =>
  conflict('restore_unavailable', 'each service is started by itself here: stop them, and restore on the command line');

/** Creates the restores. Without a place there are none. */
export function createRestores(
  place: RestorePlace | undefined,
  { query, archives, log }: { readonly query: Query; readonly archives: Storage; readonly log: Logger },
): Restores {
  if (!place)
    return {
      isAvailable: false,
      find: () => undefined,
      order: () => Promise.reject(unavailable()),
      relist: async () => {},
      stop: async () => {},
    };
  const { directory } = place;
  const listFile = join(directory, 'backups.json');
  const stopping = new AbortController();
  let checking: Promise<void> | undefined;
  const lost = findRestoreNote(directory);
  if (lost?.state === 'checking') endRestore(directory, lost, 'failed', 'The stack stopped during the check.');

  async function check(backup: Backup, note: RestoreNote): Promise<void> {
    try {
      await prepare(backup);
      await writeFile(listFile, JSON.stringify(await readDone(query)), { mode: 0o600 });
      writeRestoreNote(directory, { ...note, state: 'waiting' });
    } catch (err) {
      log.warn({ restore: note.id, err }, 'a restore was refused');
      const reason = reasonOf(err);
      endRestore(directory, note, 'failed', stopping.signal.aborted ? 'The stack stopped during the check.' : reason);
    }
  }

  /** Copies the archive, and checks the copy, which is what the restore reads. */
  async function prepare(backup: Backup): Promise<void> {
    const copy = archiveToRestore(directory);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await rm(copy, { force: true });
    await requireRoom(backup.bytes);
    const source = await archives.open(archiveKey(backup));
    if (!source) throw new ArchiveRefused("The backup's archive is no longer in the store.");
    await pipeline(source, createWriteStream(copy, { mode: 0o600, flush: true }), { signal: stopping.signal });
    const { key, unpackedBytes } = await inspectArchive(createReadStream(copy, { signal: stopping.signal }));
    if (key !== undefined && key !== place?.encryptionKey)
      throw new ArchiveRefused(
        'The archive has another encryption key, without which its encrypted values cannot be read. Restore it on the command line, which takes the key too.',
      );
    await requireRoom(unpackedBytes);
  }

  /** What is there stays until the restore is complete, so both need room. */
  async function requireRoom(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(directory);
    const freeBytes = bavail * bsize;
    if (freeBytes < bytes)
      throw new ArchiveRefused(`The restore needs ${bytes} bytes, and the disk has ${freeBytes}: make room.`);
  }

  return {
    isAvailable: true,
    find: () => findRestoreNote(directory),
    async order(backup) {
      if (isUnderWay(findRestoreNote(directory))) throw conflict('restore_running', 'another restore is not over');
      const note = writeRestoreNote(directory, {
        id: randomUUID(),
        state: 'checking',
        file: backup.file,
        message: null,
      });
      checking = check(backup, note);
      return note;
    },
    async relist() {
      const text = await readFile(listFile, 'utf8').catch(() => undefined);
      if (text === undefined) return;
      await addDone(query, JSON.parse(text));
      await rm(listFile);
    },
    async stop() {
      stopping.abort();
      await checking;
    },
  };
}
