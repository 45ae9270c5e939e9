import type { Database } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/** How often the times are written, in milliseconds. The session list lags by as much. */
const intervalMs = 30_000;

/** Notes when sessions are used. */
export interface SessionUse {
  note(sessionId: string): void;
  start(): void;
  /** Writes the remaining times. */
  stop(): Promise<void>;
}

interface SessionUseDeps {
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
}

/** Creates the notes. It writes the times together: a write per request would cost more than the request. */
export function createSessionUse({ database, log }: SessionUseDeps): SessionUse {
  let usedAtSec = new Map<string, number>();
  const writing = every({
    name: "write sessions' last use",
    log,
    intervalMs,
    firstAfterMs: intervalMs,
    run: write,
  });

  async function write(): Promise<void> {
    if (usedAtSec.size === 0) return;
    const used = usedAtSec;
    usedAtSec = new Map();
    await database.query({
      text: `update system.sessions s set last_used_at = u.at
        from unnest($1::text[], $2::bigint[]) as u(id, at) where s.id = u.id and s.last_used_at < u.at`,
      values: [[...used.keys()], [...used.values()]],
    });
  }

  return {
    note(sessionId) {
      usedAtSec.set(sessionId, Math.floor(Date.now() / 1000));
    },
    start: writing.start,
    async stop() {
      await writing.stop();
      await write().catch((error) => log.warn({ err: error }, "cannot write sessions' last use"));
    },
  };
}
