import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { buildProgram, findBuild } from '@recordbus/admin-pages/build';
import type { Lifecycle } from '@recordbus/process/lifecycle';
import type { Logger } from '@recordbus/process/logging';

/** A clone's admin pages. */
export interface AdminPages {
  /** The directory with the built pages, which may not exist yet. */
  readonly directory: string;
  /** Builds them in the background if these sources have no build. */
  buildIfMissing(log: Logger, lifecycle: Lifecycle): void;
}

/** A lower priority than the services. */
const buildNiceness = 10;

/** Finds the pages: in the directory that the environment names, which is never built, or in the cache. */
export function findAdminPages(given: string | undefined): AdminPages {
  const { directory, isBuilt } = given ? { directory: given, isBuilt: true } : findBuild();
  return {
    directory,
    buildIfMissing(log, lifecycle) {
      if (!isBuilt) build(directory, log, lifecycle);
    },
  };
}

function build(directory: string, log: Logger, lifecycle: Lifecycle): void {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [fileURLToPath(buildProgram), directory], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (child.pid) setPriority(child.pid, buildNiceness);
  let said = '';
  child.stderr.on('data', (part: Buffer) => {
    said = `${said}${part}`.slice(-4000);
  });
  let isStopping = false;
  lifecycle.onStop('admin pages build', () => {
    isStopping = true;
    child.kill('SIGKILL');
  });
  child.once('error', (error) => log.warn({ err: error }, 'the admin pages could not be built'));
  child.once('close', (code) => {
    const durationMs = Math.round(performance.now() - startedAtMs);
    if (code === 0) log.info({ durationMs }, 'built the admin pages');
    else if (!isStopping) log.warn({ said }, 'the admin pages could not be built');
  });
}
