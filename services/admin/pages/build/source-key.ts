import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pages' workspace, and the repository's root. */
export const pagesRoot = join(import.meta.dirname, '..');
export const repositoryRoot = join(pagesRoot, '../../..');

/** The files and directories that a build depends on, relative to the repository's root. */
const sources = ['services/admin/pages', 'libs/client/src', 'package-lock.json'];
const ignored = /(^|\/)(node_modules|dist)\/|\.(test\.ts|md)$/;

/** Returns the sources' key. Builds with the same key have the same files. */
export function sourceKey(root = repositoryRoot): string {
  const hash = createHash('sha256');
  for (const file of sources.flatMap((place) => filesBelow(root, place)).sort())
    hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

function filesBelow(root: string, place: string): string[] {
  if (/\.\w+$/.test(place)) return ignored.test(place) ? [] : [place];
  return readdirSync(join(root, place), { withFileTypes: true }).flatMap((entry) => {
    const path = `${place}/${entry.name}`;
    if (ignored.test(`${path}/`) || ignored.test(path)) return [];
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}
