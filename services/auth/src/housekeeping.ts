import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';

/** How often what has run out is removed, in milliseconds. */
const intervalMs = 60_000;

/** For how long it is known of a state that its verifier ran out, in seconds. */
const statesKeptSec = 24 * 3600;

/** For how long gateways find out what they have to forget; one that was away for longer forgets everything. */
const revocationsKept = "interval '10 minutes'";

interface HousekeepingDeps {
  readonly database: Database;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/** Removes sessions, tokens and counters that have run out; every replica does, and none gets in another's way. */
export function createHousekeeping({ database, log, nowSec }: HousekeepingDeps) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function tidy(): Promise<void> {
    const now = nowSec();
    for (const table of ['sessions', 'one_time_tokens'])
      await database.query({ text: `delete from system.${table} where expires_at <= $1`, values: [now] });
    await database.query({
      text: 'delete from system.oauth_states where expires_at <= $1',
      values: [now - statesKeptSec],
    });
    await database.query({ text: 'delete from system.failed_logins where resets_at <= $1', values: [now] });
    await database.query({
      text: `delete from system.revocations where revoked_at < now() - ${revocationsKept}`,
      values: [],
    });
  }

  const run = () => {
    running = tidy().catch((error) => log.warn({ err: error }, 'what has run out could not be removed'));
  };

  return {
    start() {
      timer = setInterval(run, intervalMs);
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
    },
  };
}
