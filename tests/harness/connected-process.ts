import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Can `localPortsOf` tell? Only Linux shows in files which sockets are whose. */
export const knowsPorts = process.platform === 'linux';

/** The local ports of a process's IPv4 connections. */
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

/** A file that has gone away meanwhile is nothing. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
