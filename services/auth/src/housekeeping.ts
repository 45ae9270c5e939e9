import type { Database } from '@recordbus/database';
import { tidyMailLog } from '@recordbus/mail';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/** How often expired rows are removed, in milliseconds. */
const intervalMs = 60_000;

/** How long an expired state is kept, in seconds, so that its use gets its own error. */
const statesKeptSec = 24 * 3600;

/**
 * How many ended states are kept. They only distinguish a spent state from an unknown one, and a guest can begin any
 * number.
 */
const maxEndedStates = 100_000;

/** How long gateways can read a revocation. A gateway that was away for longer looks up every session again. */
const revocationsKept = "interval '10 minutes'";

interface HousekeepingDeps {
  readonly database: Database;
  /** How long the log keeps mails. */
  readonly mailDays: () => number;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/** Creates the task that removes expired sessions, tokens and counters, and old rows of the mail log. Every replica may run it. */
export function createHousekeeping({ database, mailDays, log, nowSec }: HousekeepingDeps): BackgroundTask {
  async function removeExpired(): Promise<void> {
    const now = nowSec();
    for (const table of ['sessions', 'one_time_tokens', 'pocketbase_tokens'])
      await database.query({ text: `delete from system.${table} where expires_at <= $1`, values: [now] });
    await database.query({
      text: 'delete from system.oauth_states where expires_at <= $1',
      values: [now - statesKeptSec],
    });
    await database.query({
      text: `delete from system.oauth_states where expires_at < (
          select expires_at from system.oauth_states where expires_at <= $1
          order by expires_at desc offset ${maxEndedStates} limit 1
        )`,
      values: [now],
    });
    await database.query({ text: 'delete from system.failed_logins where resets_at <= $1', values: [now] });
    await database.query({
      text: `delete from system.revocations where revoked_at < now() - ${revocationsKept}`,
      values: [],
    });
    await tidyMailLog(database.query, mailDays());
  }

  return every({
    name: 'remove expired sessions, tokens and counters',
    log,
    intervalMs,
    firstAfterMs: intervalMs,
    run: removeExpired,
  });
}
