import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Whether `localPortsOf` works: only Linux lists sockets by process in files. */
export const knowsPorts = process.platform === 'linux';

/** Returns the local ports of a process's IPv4 connections. */
export function localPortsOf(pid: number): Set<number> {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      const target = attempt(() => readlinkSync(`/proc/${pid}/fd/${name}`)) ?? '';
      return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
    }),
  );
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  return new Set(
    rows.flatMap((row) => {
      const columns = row.trim().split(/\s+/);
      const port = columns[1]?.split(':')[1] ?? '';
      return inodes.has(columns[9] ?? '') ? [Number.parseInt(port, 16)] : [];
    }),
  );
}

/** Returns undefined for a file that was removed meanwhile. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
