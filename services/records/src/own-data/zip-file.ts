import { PassThrough, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** A ZIP that is written entry by entry, so that it is never in memory. */
export interface ZipWriter {
  /** The bytes. Read them while entries are added. */
  readonly bytes: AsyncIterable<Buffer>;
  /** Adds a stream's bytes, and resolves when they are written. Throws when the stream, or the reader of the ZIP, fails. */
  add(path: string, stream: Readable, options: { readonly isCompressed: boolean }): Promise<void>;
  end(): void;
  /** Breaks off. */
  fail(error: Error): void;
}

/** Creates a ZIP that has at most so many bytes. */
export function createZip(maxBytes: number): ZipWriter {
  const zip = new ZipFile();
  const out = new PassThrough();
  const failing = new AbortController();
  zip.on('error', (error: Error) => out.destroy(error));
  out.on('error', (error) => failing.abort(error));
  out.on('close', () => failing.abort(new Error('nobody reads the archive')));
  zip.outputStream.pipe(out);

  async function* bounded(): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of out as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new ArchiveTooLarge(maxBytes);
      yield chunk;
    }
  }

  return {
    bytes: bounded(),
    async add(path, stream, { isCompressed }) {
      zip.addReadStream(stream, path, { compress: isCompressed });
      try {
        await finished(stream, { signal: failing.signal });
      } catch (error) {
        stream.destroy();
        throw failing.signal.aborted ? failing.signal.reason : error;
      }
    },
    end: () => zip.end(),
    fail: (error) => void out.destroy(error),
  };
}

/** Thrown when an archive would be larger than it may be. */
export class ArchiveTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the archive would have more than ${Math.floor(maxBytes / 2 ** 30)} GiB`);
  }
}
