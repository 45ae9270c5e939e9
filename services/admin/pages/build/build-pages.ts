import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { compress } from './compress.ts';
import { addReferenceScript } from './reference-script.ts';
import { pagesRoot } from './source-key.ts';

/** How many older builds the cache keeps, for developers who switch between branches. */
const keptBuilds = 4;

/**
 * Builds the pages into a directory, which appears with all its files at once. If the build fails, the reason is in
 * `<directory>.failure`.
 */
export async function buildPages(directory: string): Promise<void> {
  const cache = dirname(directory);
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, '.draft-'));
  const failure = `${directory}.failure`;
  try {
    await runVite(draft);
    addReferenceScript(draft);
    await compress(draft);
    if (!existsSync(directory)) renameSync(draft, directory);
    rmSync(failure, { force: true });
    dropOldBuilds(cache);
  } catch (error) {
    // Another build from the same sources was faster.
    if (existsSync(join(directory, 'index.html'))) return;
    writeFileSync(failure, reasonOf(error));
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function runVite(outDir: string): Promise<void> {
  const { build } = await import('vite');
  await build({
    root: pagesRoot,
    configFile: join(pagesRoot, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true },
  });
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    ? 'The development dependencies are not installed.'
    : String(error);

function dropOldBuilds(cache: string): void {
  const builds = readdirSync(cache)
    .filter((name) => /^[0-9a-f]{16}$/.test(basename(name)))
    .map((name) => ({ path: join(cache, name), atMs: statSync(join(cache, name)).mtimeMs }))
    .sort((one, other) => other.atMs - one.atMs);
  for (const { path } of builds.slice(keptBuilds)) rmSync(path, { recursive: true, force: true });
}
