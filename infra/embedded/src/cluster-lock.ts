import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findCommandLine, findProcess } from './process-identity.ts';
import { type StopStep, stopProcess } from './server-process.ts';

/** PostgreSQL's own lock on a cluster; its first line is the server's pid. */
export const lockFileOf = (cluster: string): string => join(cluster, 'postmaster.pid');

/**
 * Unlocks a cluster after its server was killed, and stops a server that still runs on it. PostgreSQL only checks
 * whether the pid exists, so a zombie or another program with the same pid would keep it from starting. The caller
 * holds the data directory's lock, so no other stack uses the cluster. Returns the stopped server's pid.
 */
export async function freeCluster(cluster: string, stopSteps: readonly StopStep[]): Promise<number | undefined> {
  const lockFile = lockFileOf(cluster);
  const text = await readFile(lockFile, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // A negative pid is a server in single-user mode.
  const pid = Math.abs(Number.parseInt(text, 10));
  const server = runsOn(cluster, pid) ? findProcess(pid) : undefined;
  if (server) await stopProcess(server, stopSteps);
  await rm(lockFile, { force: true });
  return server?.pid;
}

function runsOn(cluster: string, pid: number): boolean {
  const commandLine = Number.isInteger(pid) ? findCommandLine(pid) : undefined;
  return commandLine?.includes('postgres') === true && commandLine.includes(cluster);
}
