import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** At its best quality, brotli takes ten seconds for a file of a few megabytes and saves only a few percent. */
const largeBytes = 1024 * 1024;

/** Compression does not make smaller files smaller. */
const smallestBytes = 512;

const withBrotli = promisify(brotliCompress);
const withGzip = promisify(gzip);

/** Writes a `.br` and a `.gz` next to each file in a directory. */
export async function compress(directory: string): Promise<void> {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    if (bytes.length < smallestBytes) continue;
    const quality = bytes.length > largeBytes ? 9 : 11;
    const parameters = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${path}.br`, await withBrotli(bytes, { params: parameters }));
    writeFileSync(`${path}.gz`, await withGzip(bytes, { level: 9 }));
  }
}
