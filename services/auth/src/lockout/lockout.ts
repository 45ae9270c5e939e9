import type { Database, Query } from '@recordbus/database';
import { tooManyAttempts } from '@recordbus/passwords';
import { type Settings, trustedProxiesOf } from '@recordbus/settings';
import { clientKey } from '@recordbus/shared/client-key';
import { foldAddress } from './fold-address.ts';

/** What a login is about. */
export interface LoginTarget {
  /** Id of the user's collection; `admins` for admins. */
  readonly realm: string;
  /** As it was typed: spaces around it and its case do not count. */
  readonly email: string;
  readonly clientAddress: string;
}

/** A login that was let through to the password check, and is counted as failed until it says otherwise. */
export interface LoginAttempt {
  /** The first factor was right: this attempt does not count, but those before it still do. */
  giveBack(): Promise<void>;
  /** The login is complete: nothing counts any more. */
  clear(): Promise<void>;
}

/** Locks out whoever fails too often, over all replicas (interface §5, contract §4). */
export interface Lockout {
  /**
   * Reserves an attempt before any password is checked, so that many at once can't pass together. Unknown addresses
   * count like known ones. Throws 429 with Retry-After when the address or the client is locked out.
   */
  reserve(target: LoginTarget): Promise<LoginAttempt>;
  /** Forgets the failures of an address and client whose login was completed by another step than the first. */
  clear(target: LoginTarget): Promise<void>;
}

interface LockoutDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly settings: Pick<Settings, 'get'>;
  /** The CIDRs of SERVICE_TRUSTED_PROXIES. */
  readonly trustedProxies: readonly string[];
  readonly nowSec: () => number;
}

const notCounted: LoginAttempt = { giveBack: async () => {}, clear: async () => {} };

/** Makes the lockout; it follows the settings. */
export function createLockout({ database, settings, trustedProxies, nowSec }: LockoutDeps): Lockout {
  /** Without trusted proxies everybody behind one has the proxy's address, and would be locked out together. */
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
        async giveBack() {
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

/** Lets an address in again that was locked out; the client it was tried from stays so. */
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
 * Counts an attempt for each key that is not locked, and tells how many were. The one that reaches the limit begins the
 * lockout; what is older than its window counts no more. In the order of keys, so that two logins never cross.
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
