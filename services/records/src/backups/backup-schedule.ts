import type { Query } from '@recordbus/database';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { Cron } from 'croner';

interface ScheduleDeps {
  readonly query: Query;
  readonly log: Logger;
  /** The setting: a cron expression in UTC; empty without a schedule. */
  schedule(): string;
  make(): Promise<void>;
  readonly clock?: () => number;
}

/** A name that no extension's cron has: theirs have a dot. */
const name = 'backups';

const checkEveryMs = 20_000;

/** Makes backups on schedule, on one replica for each tick. A tick that nobody saw is made up for once. */
export function followBackupSchedule({ query, log, schedule, make, clock = Date.now }: ScheduleDeps): BackgroundTask {
  let followed: string | undefined;
  return every({
    name: 'make scheduled backups',
    log,
    intervalMs: checkEveryMs,
    firstAfterMs: 1000,
    async run() {
      const text = schedule();
      const isChanged = followed !== undefined && followed !== text;
      followed = text;
      if (text === '') return;
      // After a change, only later ticks count.
      if (isChanged) await noteTick(query, new Date(clock()));
      const [due] = new Cron(text, { timezone: 'UTC', paused: true, mode: '5-part' }).previousRuns(
        1,
        new Date(clock()),
      );
      if (due && (await claimTick(query, due))) await make();
    },
  });
}

/** Claims a tick. Returns false if it is claimed, or if the schedule is newer. */
async function claimTick(query: Query, tick: Date): Promise<boolean> {
  await query({
    text: 'insert into system.crons (name, last_tick) values ($1, now()) on conflict do nothing',
    values: [name],
  });
  const rows = await query({
    text: 'update system.crons set last_tick = $2 where name = $1 and last_tick < $2 returning 1',
    values: [name, tick],
  });
  return rows.length > 0;
}

const noteTick = (query: Query, tick: Date): Promise<unknown> =>
  query({
    text: `insert into system.crons as c (name, last_tick) values ($1, $2)
      on conflict (name) do update set last_tick = greatest(c.last_tick, excluded.last_tick)`,
    values: [name, tick],
  });
