import { eventsKeptForMs } from '@recordbus/bus';
import type { Certificate } from '../jobs/certificate.ts';
import { type ErasureJob, noCounts } from './erasure.ts';
import type { ErasureDeps } from './erasure-deps.ts';
import { listKeptBackups } from './kept-backups.ts';

/** Returns an erasure's certificate: what it counted, and what goes later, with the dates. */
export async function certify(
  { database: { query }, schedule }: Pick<ErasureDeps, 'database' | 'schedule'>,
  { id, options, progress }: ErasureJob,
): Promise<Certificate> {
  const [row] = await query<{ last_sec: number | null; has_messages: boolean }>({
    text: `select extract(epoch from coalesce(max(erased_at), now()))::double precision as last_sec,
        coalesce(bool_or(has_messages), false) as has_messages
      from system.erased_records where job_id = $1`,
    values: [id],
  });
  const until = row?.has_messages ? Math.ceil((row.last_sec ?? 0) + eventsKeptForMs / 1000) : null;
  return {
    ...(progress.counts ?? noCounts),
    ...(options.files ? {} : { files: 0, previews: 0 }),
    stream_until: until,
    backups: await listKeptBackups(query, schedule()),
  };
}
