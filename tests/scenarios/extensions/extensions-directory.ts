import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Copies a directory in `tests/extensions` to a temporary one, where its files can be edited. */
export function copyExtensions(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-extensions-'));
  cpSync(new URL(`../../extensions/${name}`, import.meta.url), directory, { recursive: true });
  return directory;
}
