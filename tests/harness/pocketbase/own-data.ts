import { execFile } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The release whose tests have the data. */
const module = 'github.com/pocketbase/pocketbase@v0.40.4';

/** Finds the data directory of PocketBase's own tests in Go's module cache, or says why there is none. */
export async function findOwnData(): Promise<{ readonly directory: string } | { readonly missing: string }> {
  try {
    const { stdout } = await run('go', ['env', 'GOMODCACHE']);
    const directory = join(stdout.trim(), module, 'tests', 'data');
    // An older Go downloads the module, and then says that it cannot build it.
    if (!existsSync(directory)) await run('go', ['mod', 'download', module]).catch(() => undefined);
    if (existsSync(directory)) return { directory };
  } catch {}
  return { missing: `needs Go, which gets the source of ${module}` };
}

/** Copies a directory of Go's module cache, which is write-protected. */
export async function copyFromCache(from: string, to: string): Promise<void> {
  cpSync(from, to, { recursive: true });
  await run('chmod', ['-R', 'u+w', to]);
}
