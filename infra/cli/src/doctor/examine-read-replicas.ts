import { openCommandSession } from '@recordbus/database';
import { messageOf } from '@recordbus/errors';
import type pg from 'pg';
import { type Finding, fine, warning } from './finding.ts';

/** Doctor warns when a read replica is this many bytes behind the primary's log. */
const muchLog = 64 * 2 ** 20;

const subject = 'read replica';

/** Examines the standbys that serve reads, with a connection to the primary. */
export const examineReadReplicas = (primary: pg.Client, urls: readonly string[]): Promise<Finding[]> =>
  Promise.all(urls.map((url) => examineOne(primary, url)));

async function examineOne(primary: pg.Client, url: string): Promise<Finding> {
  const { host } = new URL(url);
  const advice = 'Reads go to the primary meanwhile. Check the server and SERVICE_DATABASE_REPLICA_URLS.';
  try {
    const replica = await openCommandSession('doctor', url);
    try {
      const [here] = (await replica.query<{ lsn: string | null }>(positionOfStandby)).rows;
      if (!here?.lsn) return warning(subject, `${host} is not a standby`, advice);
      const { rows } = await primary.query<{ bytes: number }>(
        'select greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), $1::pg_lsn), 0)::float8 as bytes',
        [here.lsn],
      );
      const megabytes = Math.round((rows[0]?.bytes ?? 0) / 2 ** 20);
      const says = `${host} is ${megabytes} MiB behind the primary`;
      return (rows[0]?.bytes ?? 0) > muchLog ? warning(subject, says, advice) : fine(subject, says);
    } finally {
      await replica.end();
    }
  } catch (error) {
    return warning(subject, `${host} does not answer: ${messageOf(error)}`, advice);
  }
}

const positionOfStandby = 'select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end::text as lsn';
