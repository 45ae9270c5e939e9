import type { IncomingMessage } from 'node:http';
import { inspectArchive } from '@recordbus/backup';
import { payloadTooLarge, requestTimeout, validationFailed } from '@recordbus/errors';
import type { FileKey, Storage } from '@recordbus/storage';
import type { ArchiveInStore, ArchiveInWork } from './write-archive.ts';

/** An uploaded archive. `stored` resolves at the body's end, and `done` after the check. */
export interface ReceivedArchive extends ArchiveInWork {
  readonly stored: Promise<unknown>;
}

interface Target {
  readonly archives: Storage;
  readonly key: FileKey;
  /** How many bytes it may have. */
  readonly roomBytes: number;
}

/** No other backup runs meanwhile, so a slow upload must end. */
const graceSec = 60;
const leastBytesPerSec = 64 * 1024;

/** What the check may unpack: rows compress well, but not like an archive that was made to fill memory or time. */
const maxEntries = 1_000_000;
const limitsOf = (bytes: number) => ({ maxEntries, maxUnpackedBytes: 250 * bytes + 64 * 2 ** 20 });

/** Stores an archive from a request's body, then checks it. */
export function receiveArchive(stream: IncomingMessage, { archives, key, roomBytes }: Target): ReceivedArchive {
  const measured = { rows: 0, files: 0, bytes: 0 };
  const stopping = new AbortController();
  const stored = archives.put(key, bounded(stream, measured, { roomBytes, signal: stopping.signal }));

  async function check(): Promise<ArchiveInStore> {
    const { sizeBytes } = await stored;
    const bytes = await archives.open(key);
    if (!bytes) throw new Error('the uploaded archive is not in the store');
    stopping.signal.addEventListener('abort', () => bytes.destroy(stopping.signal.reason));
    const { manifest, tables, rows, files } = await inspectArchive(bytes, limitsOf(sizeBytes));
    stopping.signal.throwIfAborted();
    const madeAtMs = Date.parse(manifest.created_at);
    const dataAtSec = Number.isNaN(madeAtMs) ? null : Math.floor(madeAtMs / 1000);
    return { tables, rows, files, missing_files: [], bytes: sizeBytes, dataAtSec };
  }

  const done = check();
  done.catch(() => {});
  return { measured, stored, done, stop: (reason) => stopping.abort(reason) };
}

interface Bounds {
  readonly roomBytes: number;
  readonly signal: AbortSignal;
}

async function* bounded(
  stream: IncomingMessage,
  measured: { bytes: number },
  { roomBytes, signal }: Bounds,
): AsyncGenerator<Buffer> {
  const startedMs = performance.now();
  let isBegun = false;
  const abort = (): void => void stream.destroy(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      if (!isBegun && chunk.length > 0) {
        // The first byte of gzip's two tells it from other files; the check reads the rest.
        if (chunk[0] !== 0x1f) throw notAnArchive();
        isBegun = true;
      }
      measured.bytes += chunk.length;
      if (measured.bytes > roomBytes) throw payloadTooLarge(roomBytes, 'the archive');
      const seconds = (performance.now() - startedMs) / 1000;
      if (seconds > graceSec && measured.bytes / seconds < leastBytesPerSec) throw requestTimeout();
      yield chunk;
    }
  } finally {
    signal.removeEventListener('abort', abort);
  }
  if (!isBegun) throw notAnArchive();
}

const notAnArchive = () => validationFailed({ body: 'is not an archive: send a backup as Recordbus made it' });
