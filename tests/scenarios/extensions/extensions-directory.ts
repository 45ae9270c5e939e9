import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Copies directories in `tests/extensions` to a temporary one, where their files can be edited. */
export function copyExtensions(...names: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-extensions-'));
  for (const name of names)
    cpSync(new URL(`../../extensions/${name}`, import.meta.url), directory, { recursive: true });
  return directory;
}
