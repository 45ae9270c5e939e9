import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** How many ticks in /proc/<pid>/stat make a second (USER_HZ), the same on every Linux that Node runs on. */
const ticksPerSec = 100;

/** Returns a process's CPU time so far, in milliseconds; undefined without /proc. */
export function cpuTimeMs(pid: number): number | undefined {
  const fields = fieldsOf(pid);
  return fields && ticksOf(fields, 11, 12);
}

/**
 * The fields in /proc/<pid>/stat after the command's name: user and system time, then those of ended children, at 11.
 */
function fieldsOf(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name, in parentheses, may contain anything.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

const ticksOf = (fields: readonly string[], ...indexes: number[]): number =>
  (indexes.reduce((sum, index) => sum + Number(fields[index]), 0) * 1000) / ticksPerSec;

/**
 * Returns the CPU time that processes and their descendants used, ended ones included, in milliseconds; undefined
 * without /proc.
 */
export function cpuTimeOfTreesMs(pids: readonly number[]): number | undefined {
  let sum = 0;
  for (const pid of pids) {
    const fields = fieldsOf(pid);
    if (!fields) return undefined;
    sum += ticksOf(fields, 11, 12, 13, 14) + (cpuTimeOfTreesMs(childrenOf(pid)) ?? 0);
  }
  return sum;
}

/** Each thread lists the processes that it started. */
const childrenOf = (pid: number): number[] =>
  list(`/proc/${pid}/task`).flatMap((thread) =>
    (read(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );

/** Returns a process's resident memory, in MB; undefined without /proc. */
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

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
