import type { Database } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/** How often the last uses are written, in milliseconds. One key's row is written at most once a minute. */
const intervalMs = 5000;

/** Notes when service keys are used, and from where. */
export interface KeyUse {
  note(keyId: string, address: string): void;
  start(): void;
  /** Writes the remaining uses. */
  stop(): Promise<void>;
}

interface KeyUseDeps {
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
}

interface Use {
  readonly atSec: number;
  readonly address: string;
}

/** Creates the notes. They are written together in the background, each row at most once a minute. */
export function createKeyUse({ database, log }: KeyUseDeps): KeyUse {
  let uses = new Map<string, Use>();
  const writing = every({
    name: "write service keys' last use",
    log,
    intervalMs,
    firstAfterMs: intervalMs,
    run: write,
  });

  async function write(): Promise<void> {
    if (uses.size === 0) return;
    const noted = [...uses];
    uses = new Map();
    await database.query({
      text: `update system.service_keys k set last_used_at = u.at, last_used_ip = u.ip
        from unnest($1::text[], $2::bigint[], $3::text[]) as u(id, at, ip)
        where k.id = u.id and coalesce(k.last_used_at + 60 <= u.at, true)`,
      values: [noted.map(([id]) => id), noted.map(([, { atSec }]) => atSec), noted.map(([, { address }]) => address)],
    });
  }

  return {
    note(keyId, address) {
      uses.set(keyId, { atSec: Math.floor(Date.now() / 1000), address });
    },
    start: writing.start,
    async stop() {
      await writing.stop();
      await write().catch((error) => log.warn({ err: error }, "cannot write service keys' last use"));
    },
  };
}
