import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { createHashing } from './hashing.ts';
import { checksumsEntry } from './manifest.ts';

/** Writes an archive entry by entry, as a stream. */
export interface ArchiveWriter {
  add(name: string, bytes: Uint8Array | string): Promise<void>;
  /** Adds a stream with the given size. Throws if the stream has a different size. */
  addStream(name: string, sizeBytes: number, bytes: Readable): Promise<void>;
  /** Adds the checksums, which complete an archive, and waits until everything is written. */
  finish(): Promise<void>;
}

/** Creates a writer for a gzipped tar archive on a stream. */
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
      // The failure that closed the archive is the reason, not the refused entry.
      await writing;
      throw error;
    }
  }

  async function addStream(name: string, sizeBytes: number, bytes: Readable): Promise<void> {
    const { stream, digest } = createHashing();
    const entry = await openEntry(name, sizeBytes);
    // An output failure (a full disk, a closed pipe) must end the wait for the entry.
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
