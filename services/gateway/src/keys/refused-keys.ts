import { recordAudit } from '@recordbus/audit';
import type { Database } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/** Why the request's key was refused (keys §2.3). */
export type RefusedFor = 'unknown' | 'expired' | 'network' | 'url';

export interface RefusedKey {
  readonly reason: RefusedFor;
  /** The id in the key, if there is one; the key may not exist. */
  readonly id: string | undefined;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
}

/** Audits refused keys. */
export interface RefusedKeys {
  note(refused: RefusedKey): void;
  start(): void;
  stop(): Promise<void>;
}

interface RefusedKeysDeps {
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
}

/** How often rows are written, in milliseconds. */
const intervalMs = 1000;
/** How long equal refusals (key, address and reason) share one row, in milliseconds. */
const sameForMs = 60_000;
/** How many rows may be written in that time. Further refusals are counted, and the count is one row. */
const maxRows = 60;

const guest = { type: 'guest', rejectedToken: true } as const;

/**
 * Audits refused keys. Anyone can send keys that are refused, so rows are bounded: equal refusals are written once a
 * minute, and at most 60 rows a minute. A replica writes them in the background.
 */
export function createRefusedKeys({ database, log }: RefusedKeysDeps): RefusedKeys {
  let waiting: RefusedKey[] = [];
  let seen = new Set<string>();
  let endsAtMs = Number.NEGATIVE_INFINITY;
  let omitted = 0;

  function beginPeriod(nowMs: number): void {
    if (nowMs < endsAtMs) return;
    endsAtMs = nowMs + sameForMs;
    seen = new Set();
  }

  async function write(): Promise<void> {
    beginPeriod(performance.now());
    const refused = waiting;
    waiting = [];
    // One minute's count is written in the next.
    const count = seen.size === 0 ? omitted : 0;
    if (count > 0) omitted = 0;
    for (const one of refused) await audit(one);
    if (count > 0)
      await recordAudit(database.query, { action: 'keys.refused', context: 'system', details: { omitted: count } });
  }

  const audit = ({ reason, id, clientAddress, userAgent }: RefusedKey): Promise<void> =>
    recordAudit(database.query, {
      action: 'keys.refused',
      context: { principal: guest, clientAddress },
      userAgent,
      ...(id !== undefined && { target: { type: 'key', id } }),
      details: { reason },
    });

  const writing = every({
    name: 'audit refused service keys',
    log,
    level: 'debug',
    intervalMs,
    firstAfterMs: intervalMs,
    run: write,
  });

  return {
    note(refused) {
      beginPeriod(performance.now());
      const like = `${refused.reason} ${refused.id ?? ''} ${refused.clientAddress}`;
      if (seen.has(like) || seen.size >= maxRows) {
        if (!seen.has(like)) omitted += 1;
        return;
      }
      seen.add(like);
      waiting.push(refused);
    },
    start: writing.start,
    async stop() {
      await writing.stop();
      await write().catch((error) => log.warn({ err: error }, 'cannot audit refused service keys'));
    },
  };
}
