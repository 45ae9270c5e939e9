import { Transform } from 'node:stream';
import { type BackupOptions, type BackupResult, createBackup } from '@recordbus/backup';
import type { FileKey, Storage } from '@recordbus/storage';
import type pg from 'pg';
import { OutOfRoom } from './room.ts';

interface Target {
  readonly archives: Storage;
  readonly key: FileKey;
  /** How many bytes it may have. */
  readonly roomBytes: number;
  /** Ends the session on the server, even while a query waits there. */
  endSession(): Promise<unknown>;
}

/** What the store has at the end. */
export interface ArchiveInStore extends BackupResult {
  readonly bytes: number;
  /** For an archive from elsewhere: when its backup was made, in unix seconds. */
  readonly dataAtSec: number | null;
}

/** An archive that is being written into the store. */
export interface ArchiveInWork {
  /** The contents so far. */
  readonly measured: { readonly rows: number; readonly files: number; readonly bytes: number };
  readonly done: Promise<ArchiveInStore>;
  /** Ends the work and the session: `done` rejects, and the store keeps nothing. */
  stop(reason: Error): void;
}

/** Writes an archive into the store as a stream, on a session with the command lock. */
export function writeArchive(
  client: pg.Client,
  { archives, key, roomBytes, endSession }: Target,
  options: Omit<BackupOptions, 'output' | 'onProgress'>,
): ArchiveInWork {
  const measured = { rows: 0, files: 0, bytes: 0 };
  const output = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      measured.bytes += chunk.length;
      if (measured.bytes > roomBytes) done(new OutOfRoom(roomBytes));
      else done(null, chunk);
    },
  });
  // The store may already have closed it.
  output.on('error', () => {});

  function stop(reason: Error): void {
    output.destroy(reason);
    endSession().catch(() => {});
  }

  async function write() {
    const made = createBackup(client, {
      ...options,
      output,
      onProgress: (done) => Object.assign(measured, done),
    }).catch((error: unknown) => {
      output.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    });
    const [kept, written] = await Promise.allSettled([archives.put(key, output), made]);
    // The store's error, such as a full disk, is the cause. The other side only sees a closed stream.
    if (kept.status === 'rejected') throw kept.reason;
    if (written.status === 'rejected') throw written.reason;
    return { ...written.value, bytes: kept.value.sizeBytes, dataAtSec: null };
  }

  return { measured, stop, done: write() };
}
