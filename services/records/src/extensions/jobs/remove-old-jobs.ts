import type { Query } from '@recordbus/database';

/** How long jobs that are done are listed, in days. */
const doneDays = 1;
/** Rows that one statement deletes. */
const atOnce = 10_000;

/** Removes jobs that are done after a day, and dead and cancelled ones some days after their end. */
export async function removeOldExtensionJobs(query: Query, days: number): Promise<void> {
  for (;;) {
    const removed = await query({
      text: `delete from system.extension_jobs where id in (
          select id from system.extension_jobs
          where finished_at < now() - make_interval(days => least($1::int, $2))
            and (state = 'done' or finished_at < now() - make_interval(days => $2))
          limit ${atOnce} for update skip locked
        ) returning 1`,
      values: [doneDays, days],
    });
    if (removed.length < atOnce) return;
  }
}
