import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Identifies one process in one boot. A pid alone does not: it is reused sooner or later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's format, only for comparison. */
  readonly startedAt: string;
}

/** Identifies the running process with this pid; undefined when it is dead or a zombie. */
export function findProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : posixStart(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Whether the identified process still runs. */
export const isRunning = ({ pid, startedAt }: ProcessIdentity): boolean => findProcess(pid)?.startedAt === startedAt;

/**
 * proc(5): state is field 3 and the start time, in ticks since boot, field 22; the name in field 2 may hold anything.
 */
function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (isDead(fields[0])) return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${boot.trim()} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

function posixStart(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
    const [state = 'Z', ...startedAt] = line.trim().split(/\s+/);
    return isDead(state) ? undefined : startedAt.join(' ');
  } catch {
    return undefined;
  }
}

/** A zombie (Z) keeps its pid until its parent reads its exit code, which may never happen in a container. */
const isDead = (state: string | undefined): boolean => /^[ZX]/.test(state ?? 'Z');

/** A running process's command line, its arguments joined by spaces; undefined when there is no such process. */
export function findCommandLine(pid: number): string | undefined {
  if (!findProcess(pid)) return undefined;
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

/** Reads an identity that was written as JSON; undefined when the text is something else. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { pid, startedAt } = value as Record<string, unknown>;
    return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : undefined;
  } catch {
    return undefined;
  }
}
