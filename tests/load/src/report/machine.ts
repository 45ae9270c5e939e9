import { statfsSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type pg from 'pg';

/** The statfs(2) type for a file system in memory, where commits do not wait for a disk. */
const tmpfs = 0x01021994;

/** Returns a line when other programs use the machine, which lowers the figures. Call it at the start. */
export function describeOtherLoad(): string[] {
  const [lastMinute = 0] = loadavg();
  if (lastMinute < availableParallelism() / 2) return [];
  return [`THE MACHINE WAS BUSY with something else at the start (load average ${lastMinute.toFixed(1)})`];
}

/** Returns lines that describe the machine. */
export async function describeMachine(database: pg.Client, dataDirectory: string): Promise<string[]> {
  const { rows } = await database.query<{ server_version: string; fsync: string }>(
    "select current_setting('server_version') as server_version, current_setting('fsync') as fsync",
  );
  const disk =
    statfsSync(dataDirectory).type === tmpfs ? 'data in memory (tmpfs): commits cost nothing' : 'data on disk';
  return [
    `${availableParallelism()} cores of ${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`,
    `Node ${process.versions.node}, PostgreSQL ${rows[0]?.server_version}, fsync ${rows[0]?.fsync}, ${disk}`,
  ];
}
