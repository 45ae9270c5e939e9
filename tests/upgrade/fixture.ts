import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { createDataDirectory } from '../harness/stacks/stack.ts';
import type { Marks } from './small-deployment.ts';

/** A data directory that the last release wrote and filled. `npm run release -- fixture` writes it. */
const fixtureFile = join(import.meta.dirname, 'released-data.tar.zst');
const marksFile = 'marks.json';
/** 128 MB: a cluster's databases are almost copies of each other. */
const windowLog = 27;

/** Packs a stopped stack's data directory. */
export function packFixture(dataDirectory: string, marks: Marks): void {
  writeFileSync(join(dataDirectory, marksFile), JSON.stringify(marks));
  const left = ['*.log', '*.lock', 'cache'].map((pattern) => `--exclude=${pattern}`);
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const archive = execFileSync('tar', ['-c', ...owner, ...left, '-C', dataDirectory, '.'], { maxBuffer: 1024 ** 3 });
  const params = {
    [constants.ZSTD_c_compressionLevel]: 22,
    [constants.ZSTD_c_windowLog]: windowLog,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  };
  writeFileSync(fixtureFile, zstdCompressSync(archive, { params }));
}

/** Unpacks the fixture into a new data directory. */
export function unpackFixture(): { readonly dataDirectory: string; readonly marks: Marks } {
  const dataDirectory = createDataDirectory();
  const params = { [constants.ZSTD_d_windowLogMax]: windowLog };
  execFileSync('tar', ['-x', '-C', dataDirectory], {
    input: zstdDecompressSync(readFileSync(fixtureFile), { params }),
  });
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', serverUser(), join(dataDirectory, 'postgres')]);
  const marks: Marks = JSON.parse(readFileSync(join(dataDirectory, marksFile), 'utf8'));
  return { dataDirectory, marks };
}

/** Returns the user as whom the product runs PostgreSQL if it is root itself. */
const serverUser = (): string => (/^postgres:/m.test(readFileSync('/etc/passwd', 'utf8')) ? 'postgres' : 'nobody');
