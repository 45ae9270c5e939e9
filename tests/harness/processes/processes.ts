import { execFileSync } from 'node:child_process';

interface ListedProcess {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
}

/** Lists this machine's processes. */
export const listProcesses = (): readonly ListedProcess[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command='], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parentPid, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return pid ? [{ pid: Number(pid), parentPid: Number(parentPid), command }] : [];
    });

/** Lists a process's descendants. */
export function listDescendants(pid: number): readonly ListedProcess[] {
  const all = listProcesses();
  const below = (parent: number): ListedProcess[] =>
    all.filter(({ parentPid }) => parentPid === parent).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
}

/** Returns the processes that are still running. */
export function stillRunning(processes: readonly ListedProcess[]): readonly ListedProcess[] {
  const now = new Map(listProcesses().map((listed) => [listed.pid, listed.command]));
  return processes.filter(({ pid, command }) => now.get(pid) === command);
}
