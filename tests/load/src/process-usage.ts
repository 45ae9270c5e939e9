import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** Ticks of /proc/<pid>/stat per second (USER_HZ), the same on every Linux that Node runs on. */
const ticksPerSec = 100;

/** Returns the CPU time of a process so far, in milliseconds; undefined without /proc. */
export function cpuTimeMs(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (!stat) return undefined;
  // The name of the command, in parentheses, may contain anything. User and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSec;
}

/** Returns the resident memory of a process, in MB; undefined without /proc. */
export function residentMb(pid: number): number | undefined {
  const kb = /VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return kb === undefined ? undefined : Math.round(Number(kb) / 1024);
}

const sampleMs = 200;
const idlePart = 0.05;
const patienceMs = 15_000;

/** Waits until the processes use almost no CPU, so that remaining work does not affect the next measurement. */
export async function untilIdle(pids: readonly number[]): Promise<void> {
  const used = () => pids.reduce((sum, pid) => sum + (cpuTimeMs(pid) ?? 0), 0);
  const deadlineMs = performance.now() + patienceMs;
  for (let before = used(); performance.now() < deadlineMs; ) {
    await setTimeout(sampleMs);
    const after = used();
    if (after - before <= sampleMs * idlePart) return;
    before = after;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
