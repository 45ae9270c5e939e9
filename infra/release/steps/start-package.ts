import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../pack/npm-pack.ts';
import { untilReady } from './until-ready.ts';

/** An installation downloads some hundred megabytes. */
const startTimeoutMs = 600_000;

/**
 * Installs a packed command line in an empty folder and starts the stack with it. Returns after how many milliseconds it
 * answered. Throws when it does not answer, tells another version, or does not stop with exit code 0.
 */
export async function startPackage(tarball: string, version: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'recordbus-npx-'));
  const startedAtMs = performance.now();
  try {
    // What npx does, without its shell between, so that the exit code is the stack's.
    run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', tarball], folder);
    const child = spawn(join(folder, 'node_modules/.bin/recordbus'), ['start'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SERVICE_DATA_DIR: join(folder, 'data') },
    });
    const exited = once(child, 'exit');
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    try {
      const url = () => /is ready at (http:\/\/\S+)/.exec(said)?.[1];
      await untilReady({ url, version, timeoutMs: startTimeoutMs, hasEnded: () => child.exitCode !== null });
    } finally {
      child.kill('SIGTERM');
      await exited;
    }
    if (child.exitCode !== 0) throw new Error(`The stack from ${tarball} ended with ${child.exitCode}:\n${said}`);
    return performance.now() - startedAtMs;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
