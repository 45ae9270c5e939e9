import { timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, mapDatabaseError } from '@recordbus/database';
import type { RevocationFeed } from '../revocation-feed.ts';
import { readKeys, type ServicePrincipal, type StoredKey } from './key-rows.ts';
import { readKeyText } from './key-text.ts';

/** Why a key is refused. A text with a wrong secret is unknown, whatever its id. */
export type KeyRefusal = 'unknown' | 'expired' | 'network';

/** A checked key: its principal, or why it is refused. `id` is undefined for a text that is not a key. */
export type KeyVerdict =
  | { readonly principal: ServicePrincipal }
  | { readonly refusal: KeyRefusal; readonly id: string | undefined };

/** Checks service keys. */
export interface KeyRing {
  /** Checks a key's text and the client's address. Throws 503 when the database does not answer. */
  verify(text: string, address: string): Promise<KeyVerdict>;
  /** Finds the principal for a key that was checked before; undefined when it is revoked or has expired. */
  find(id: string): Promise<ServicePrincipal | undefined>;
  /** Whether the key with this id may be used from an address; false when it is revoked or has expired. */
  admits(id: string, address: string): Promise<boolean>;
}

interface KeyRingDeps {
  readonly database: Pick<Database, 'read'>;
  readonly feed: Pick<RevocationFeed, 'isFresh' | 'refresh' | 'mark' | 'revokedSince'>;
  readonly nowMs?: () => number;
}

/** The subject in the revocation log that every key change names. */
const anyKey = 'service_keys';

/** A key that the copy lacks may be new, so the log is read, at most this often for all such keys together. */
const missedEveryMs = 250;

interface Copy {
  readonly keys: ReadonlyMap<string, StoredKey>;
  /** The feed's mark before the keys were read. */
  readonly mark: number;
}

/**
 * Creates the ring. It holds a copy of all keys, which are few. So an unknown key costs a look-up in memory, and
 * strangers' texts do not fill a cache. At most four times a second the database is queried for all unknown keys. A
 * request with an unknown key waits for that, so a new key works at once on every replica.
 */
export function createKeyRing({ database, feed, nowMs = Date.now }: KeyRingDeps): KeyRing {
  let copy: Copy | undefined;
  let loading: Promise<Copy> | undefined;
  let missing: Promise<void> | undefined;
  let missedAtMs = Number.NEGATIVE_INFINITY;

  const isCurrent = ({ mark }: Copy): boolean => !feed.revokedSince(mark, anyKey, undefined);

  async function load(): Promise<Copy> {
    // Taken before the query: a change that arrives during the query makes its result stale.
    const mark = feed.mark();
    copy = { keys: await readKeys(database.read), mark };
    return copy;
  }

  async function current(): Promise<Copy> {
    for (;;) {
      if (!feed.isFresh()) await feed.refresh();
      if (copy && isCurrent(copy)) return copy;
      loading ??= load().finally(() => {
        loading = undefined;
      });
      await loading;
    }
  }

  /** Reads the log once for all keys that are missing until then. */
  async function readForMissed(): Promise<void> {
    await delay(Math.max(0, missedAtMs + missedEveryMs - performance.now()));
    missedAtMs = performance.now();
    // Later requests need a later read.
    missing = undefined;
    await feed.refresh();
  }

  async function findKept(id: string): Promise<StoredKey | undefined> {
    const found = (await current()).keys.get(id);
    if (found) return found;
    missing ??= readForMissed();
    await missing;
    return (await current()).keys.get(id);
  }

  const isExpired = ({ expiresAtSec }: ServicePrincipal): boolean =>
    expiresAtSec !== undefined && expiresAtSec * 1000 <= nowMs();

  async function mapped<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw mapDatabaseError(error) ?? error;
    }
  }

  return {
    verify: (text, address) =>
      mapped(async () => {
        const given = readKeyText(text);
        if (!given) return { refusal: 'unknown', id: undefined };
        const { id, hash } = given;
        const key = await findKept(id);
        if (!key || !timingSafeEqual(hash, key.hash)) return { refusal: 'unknown', id };
        if (isExpired(key.principal)) return { refusal: 'expired', id };
        return key.admits(address) ? { principal: key.principal } : { refusal: 'network', id };
      }),
    find: (id) =>
      mapped(async () => {
        const principal = (await current()).keys.get(id)?.principal;
        return principal && !isExpired(principal) ? principal : undefined;
      }),
    admits: (id, address) =>
      mapped(async () => {
        const key = await findKept(id);
        return key !== undefined && !isExpired(key.principal) && key.admits(address);
      }),
  };
}
