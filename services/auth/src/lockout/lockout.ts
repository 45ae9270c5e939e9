import type { Database, Query } from '@recordbus/database';
import { tooManyAttempts } from '@recordbus/passwords';
import { clientKey } from '@recordbus/request/client-key';
import { type Settings, trustedProxiesOf } from '@recordbus/settings';
import { foldAddress } from './fold-address.ts';

/** A login's address and client. */
export interface LoginTarget {
  /** The id of the user's collection; `admins` for admins. */
  readonly realm: string;
  /** The address as typed; spaces around it and letter case do not matter. */
  readonly email: string;
  readonly clientAddress: string;
}

/** A reserved login attempt. It counts as failed until `release` or `clear`. */
export interface LoginAttempt {
  /** Stops counting this attempt, after a right first factor. Earlier failures still count. */
  release(): Promise<void>;
  /** Resets the counts after a completed login. */
  clear(): Promise<void>;
}

/** Locks addresses and clients out after too many failures, over all replicas (auth §4.2). */
export interface Lockout {
  /**
   * Counts an attempt before the password is checked, so that parallel attempts cannot exceed the limit. Unknown
   * addresses count like known ones. Throws 429 with Retry-After when the address or the client is locked out.
   */
  reserve(target: LoginTarget): Promise<LoginAttempt>;
  /** Resets an address's and a client's counts after a login that a later step completed. */
  clear(target: LoginTarget): Promise<void>;
}

interface LockoutDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly settings: Pick<Settings, 'get'>;
  /** The CIDRs from SERVICE_TRUSTED_PROXIES. */
  readonly trustedProxies: readonly string[];
  readonly nowSec: () => number;
}

const notCounted: LoginAttempt = { release: async () => {}, clear: async () => {} };

/** Creates the lockout; it follows the settings. */
export function createLockout({ database, settings, trustedProxies, nowSec }: LockoutDeps): Lockout {
  /**
   * Without trusted proxies all clients behind a proxy share its address and would be locked out together (auth §4.3).
   */
  const countsClients = () => trustedProxiesOf(settings, trustedProxies).length > 0;

  const keysOf = (target: LoginTarget): string[] =>
    [addressKey(target), ...(countsClients() ? [`client ${clientKey(target.clientAddress)}`] : [])].sort();

  const forget = (keys: readonly string[]) => async (): Promise<void> => {
    await database.query({ text: 'delete from system.failed_logins where key = any($1)', values: [keys] });
  };

  return {
    async reserve(target) {
      const maxAttempts = settings.get('auth.lockout.max_attempts');
      if (maxAttempts === 0) return notCounted;
      const keys = keysOf(target);
      const now = nowSec();
      const resetsAtSec = now + settings.get('auth.lockout.duration_seconds');
      await database.transaction(async (query) => {
        const counted = await count(query, { keys, now, resetsAtSec, maxAttempts });
        if (counted < keys.length) throw tooManyAttempts(await findReset(query, keys, maxAttempts, now), now);
      });
      return {
        async release() {
          await database.query({
            text: 'update system.failed_logins set failures = failures - 1 where key = any($1) and failures > 0',
            values: [keys],
          });
        },
        clear: forget(keys),
      };
    },
    async clear(target) {
      if (settings.get('auth.lockout.max_attempts') > 0) await forget(keysOf(target))();
    },
  };
}

/** Ends an address's lockout; clients stay locked out. */
export async function liftLockout(query: Query, target: Pick<LoginTarget, 'realm' | 'email'>): Promise<void> {
  await query({ text: 'delete from system.failed_logins where key = $1', values: [addressKey(target)] });
}

const addressKey = ({ realm, email }: Pick<LoginTarget, 'realm' | 'email'>): string =>
  `address ${realm} ${foldAddress(email)}`;

interface Counting {
  readonly keys: readonly string[];
  readonly now: number;
  readonly resetsAtSec: number;
  readonly maxAttempts: number;
}

/**
 * Counts an attempt for each key that is not locked; returns how many keys were counted. The attempt that reaches the
 * limit begins the lockout; failures older than the window do not count. Keys are locked in order, so that two logins
 * never deadlock.
 */
async function count(query: Query, { keys, now, resetsAtSec, maxAttempts }: Counting): Promise<number> {
  let counted = 0;
  for (const key of keys) {
    const rows = await query({
      text: `insert into system.failed_logins as f (key, failures, resets_at) values ($1, 1, $3)
        on conflict (key) do update set
          failures = case when f.resets_at <= $2 then 1 else f.failures + 1 end,
          resets_at = case when f.resets_at <= $2 or f.failures + 1 >= $4 then $3 else f.resets_at end
        where f.resets_at <= $2 or f.failures < $4
        returning 1`,
      values: [key, now, resetsAtSec, maxAttempts],
    });
    counted += rows.length;
  }
  return counted;
}

async function findReset(query: Query, keys: readonly string[], maxAttempts: number, now: number): Promise<number> {
  const [row] = await query<{ resetsAtSec: number | null }>({
    text: 'select max(resets_at) as "resetsAtSec" from system.failed_logins where key = any($1) and failures >= $2',
    values: [keys, maxAttempts],
  });
  return row?.resetsAtSec ?? now + 1;
}
