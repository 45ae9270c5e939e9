import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { createHashing } from './hashing.ts';
import { checksumsEntry } from './manifest.ts';

/** Writes an archive entry by entry, as they come; nothing of it is held in memory. */
export interface ArchiveWriter {
  add(name: string, bytes: Uint8Array | string): Promise<void>;
  /** Adds a stream whose size is known. Throws when it gives another number of bytes. */
  addStream(name: string, sizeBytes: number, bytes: Readable): Promise<void>;
  /** Adds the checksums, which make an archive whole, and waits until everything is written. */
  finish(): Promise<void>;
}

/** Begins a gzipped tar archive on a stream. */
export function createArchiveWriter(output: Writable): ArchiveWriter {
  const archive = pack();
  const writing = pipeline(archive, createGzip(), output);
  writing.catch(() => {});
  const checksums: Record<string, string> = {};
  const mtime = new Date();

  async function openEntry(name: string, sizeBytes: number): Promise<ReturnType<typeof archive.entry>> {
    try {
      return archive.entry({ name, size: sizeBytes, mode: 0o600, mtime });
    } catch (error) {
      // What ended the archive between two entries is the reason, not that it takes no more.
      await writing;
      throw error;
    }
  }

  async function addStream(name: string, sizeBytes: number, bytes: Readable): Promise<void> {
    const { stream, digest } = createHashing();
    const entry = await openEntry(name, sizeBytes);
    // What ends the archive from the other side (a full disk, a closed pipe) ends the wait for its taking more.
    await Promise.race([pipeline(bytes, stream, entry), writing]);
    checksums[name] = digest();
  }

  function add(name: string, content: Uint8Array | string): Promise<void> {
    const bytes = Buffer.from(content);
    return addStream(name, bytes.length, Readable.from([bytes]));
  }

  return {
    add,
    addStream,
    async finish() {
      await add(checksumsEntry, JSON.stringify(checksums));
      archive.finalize();
      await writing;
    },
  };
}
