import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file that may be an extension. */
export interface ExtensionFile {
  readonly name: string;
  readonly file: string;
}

const fileName = /^([A-Za-z0-9][A-Za-z0-9_-]{0,62})\.(ts|mjs)$/;
const indexNames = ['index.ts', 'index.mjs'];

/**
 * Finds a directory's extensions, sorted by name: files `<name>.ts` and `<name>.mjs`, and `index.ts` or `index.mjs` in
 * subdirectories. Ignores tests, type declarations and names that begin with a dot or an underscore.
 */
export async function findExtensions(directory: string): Promise<ExtensionFile[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const found = await Promise.all(entries.map(({ name }) => findIn(directory, name)));
  return found.filter((one) => one !== undefined).sort(byNameThenFile);
}

const byNameThenFile = (one: ExtensionFile, other: ExtensionFile): number =>
  (one.name === other.name ? one.file < other.file : one.name < other.name) ? -1 : 1;

async function findIn(directory: string, entry: string): Promise<ExtensionFile | undefined> {
  const path = join(directory, entry);
  if (entry === 'node_modules' || /\.(test|d)\.ts$/.test(entry)) return undefined;
  const [, name] = fileName.exec(entry) ?? [];
  if (name !== undefined) return { name, file: path };
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/.test(entry)) return undefined;
  for (const index of indexNames) {
    const file = join(path, index);
    const isFile = await stat(file).then(
      (found) => found.isFile(),
      () => false,
    );
    if (isFile) return { name: entry, file };
  }
  return undefined;
}
