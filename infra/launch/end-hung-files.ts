import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';

/**
 * Kills the process of a test file that has not ended within `limitMs`, and calls `onKill` with the file. The timeout
 * of node:test ends a test, but not its process: an open server would keep that alive and the run would never end.
 */
export function endHungFiles(files: readonly string[], limitMs: number, onKill: (file: string) => void): void {
  subscribe('child_process', (message) => {
    // Its arguments are not known yet.
    const { process: child } = message as { readonly process: ChildProcess };
    const limit = setTimeout(() => {
      const file = child.spawnargs.at(-1);
      if (file !== undefined && files.includes(file) && child.kill('SIGKILL')) onKill(file);
    }, limitMs);
    limit.unref();
    child.once('exit', () => clearTimeout(limit));
  });
}
