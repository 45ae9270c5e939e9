import { resolve } from 'node:path';
import { buildPages } from './build-pages.ts';
import { findBuild } from './find-build.ts';

/** Without an argument, the pages are built in the cache if they are not there. The program prints where they are. */
const given = process.argv[2];
const { directory, isBuilt } = given ? { directory: resolve(given), isBuilt: false } : findBuild();
if (!isBuilt) await buildPages(directory);
process.stdout.write(`${directory}\n`);
