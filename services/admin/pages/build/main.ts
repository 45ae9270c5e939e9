import { resolve } from 'node:path';
import { buildPages } from './build-pages.ts';
import { findBuild } from './find-build.ts';

/** Builds the pages into the given directory, or into the cache if they are missing there. Prints the directory. */
const given = process.argv[2];
const { directory, isBuilt } = given ? { directory: resolve(given), isBuilt: false } : findBuild();
if (!isBuilt) await buildPages(directory);
process.stdout.write(`${directory}\n`);
