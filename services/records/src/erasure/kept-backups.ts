import type { Query } from '@recordbus/database';
import { Cron } from 'croner';
import type { Certificate } from '../jobs/certificate.ts';

/** The backup schedule's settings. */
export interface BackupSchedule {
  /** A cron expression in UTC; empty without a schedule. */
  readonly cron: string;
  /** How many of its backups are kept. */
  readonly kept: number;
}

/**
 * Lists the backups with archives, which have the records that were there. The schedule deletes its oldest ones as new ones are
 * made; others stay until an admin deletes them.
 */
export async function listKeptBackups(query: Query, { cron, kept }: BackupSchedule): Promise<Certificate['backups']> {
  const backups = await query<{ name: string; place: number | null }>({
    text: `select file as name, case when source = 'schedule' then
        (row_number() over (partition by source order by created_at desc, id desc))::integer end as place
      from system.backups where state = 'done' order by created_at desc, id desc limit 1000`,
    values: [],
  });
  const ticks = cron === '' ? [] : new Cron(cron, { timezone: 'UTC', paused: true, mode: '5-part' }).nextRuns(kept);
  return backups.map(({ name, place }) => {
    const end = place === null ? undefined : ticks[Math.max(kept - place, 0)];
    return { name, keep_until: end ? Math.floor(end.getTime() / 1000) : null };
  });
}
