import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, sourceKey } from './source-key.ts';

/** A clone's build directory, which may not exist yet. */
export interface PagesBuild {
  readonly directory: string;
  readonly isBuilt: boolean;
}

/** Finds the current sources' build. The cache is separate from all data. */
export function findBuild(): PagesBuild {
  const directory = join(cacheDirectory(), sourceKey());
  return { directory, isBuilt: existsSync(join(directory, 'index.html')) };
}

/** The clone's cache, or the user's if the clone is read-only. */
function cacheDirectory(): string {
  const ofClone = join(repositoryRoot, 'node_modules/.cache/admin-pages');
  try {
    mkdirSync(ofClone, { recursive: true });
    accessSync(ofClone, constants.W_OK);
    return ofClone;
  } catch {
    return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'recordbus/admin-pages');
  }
}
