import { randomUUID } from 'node:crypto';
import type { Database, Query } from '@recordbus/database';
import type { FirstClaim, IdempotencyClaim, IdempotencyStore, KeptReply } from '@recordbus/http';
import { heartbeat } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { createKeySeal, isSame, type KeySeal } from './key-seal.ts';
import {
  claimKey,
  type FoundKey,
  forgetLargeAnswers,
  type Hold,
  isKeyKnown,
  keepAnswer,
  releaseKey,
  renewLease,
  sweepKeys,
} from './key-store.ts';

interface IdempotencyKeysDeps {
  readonly database: Pick<Database, 'query' | 'read'>;
  /**
   * The connections for claims; by default the same. A claim need not wait for the disk, since its work does: a
   * database crash that loses a claim also loses the work.
   */
  readonly claimOn?: Pick<Database, 'query'>;
  /** Where expired keys and old answers are removed; by default, on the same connections. */
  readonly removeOn?: Pick<Database, 'query'>;
  readonly log: Logger;
  /** The raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  /** How long a key stays held after its process has died, in milliseconds. */
  readonly leaseMs?: number;
  /** How often a process that uses keys removes what is over, in milliseconds. */
  readonly removeEveryMs?: number;
}

const defaultLeaseMs = 10_000;

/** How often a claim is tried if the row appears or disappears meanwhile. After that the key counts as in use. */
const claimAttempts = 5;

const defaultRemoveEveryMs = 10_000;
/** Expired keys that one statement removes. */
const removedAtOnce = 1000;

/**
 * How many bytes all large answers may have together. A request with a few bytes may have a one-megabyte answer, and a
 * caller may send thirty in a second: kept for a day, they would fill any disk.
 */
const maxLargeBytes = 2 ** 30;

/**
 * Creates the idempotency key store in PostgreSQL, which all replicas share (http §7.9). A claim is one statement.
 * Storing the answer is another one; a handler can run it in its work's transaction. If a process dies, its lease
 * expires.
 */
export function createIdempotencyKeys(deps: IdempotencyKeysDeps): IdempotencyStore {
  const { log, leaseMs = defaultLeaseMs, claimOn = deps.database, removeOn = deps.database } = deps;
  const { query, read } = deps.database;
  const seal = createKeySeal(deps.secret);
  const removeOld = createRemoveOld(removeOn.query, log, deps.removeEveryMs ?? defaultRemoveEveryMs);

  return {
    async findUnused(identity, digest) {
      const id = seal.idOf(identity);
      if (await isKeyKnown(read, id)) return undefined;
      removeOld();
      return { id, fingerprint: seal.fingerprintOf(id, digest) };
    },
    async claim(identity) {
      const hold: Hold = { id: seal.idOf(identity), token: randomUUID() };
      const claim = await tryClaim(claimOn.query, hold, leaseMs, seal);
      if (claim !== 'mine') return claim;
      removeOld();
      return holdKey({ query, log, seal, leaseMs }, hold);
    },
  };
}

/** Returns what removes expired keys and the oldest large answers in the background, if it is time to. */
function createRemoveOld(query: Query, log: Logger, everyMs: number): () => void {
  let isRemoving = false;
  let removedAtMs = performance.now();

  async function remove(): Promise<void> {
    let removed = removedAtOnce;
    while (removed === removedAtOnce) removed = await sweepKeys(query, removedAtOnce);
    await forgetLargeAnswers(query, maxLargeBytes);
  }

  return () => {
    if (isRemoving || performance.now() - removedAtMs < everyMs) return;
    isRemoving = true;
    remove()
      .catch((error) => log.warn({ err: error }, 'cannot remove old idempotency keys'))
      .finally(() => {
        isRemoving = false;
        removedAtMs = performance.now();
      });
  };
}

async function tryClaim(query: Query, hold: Hold, leaseMs: number, seal: KeySeal): Promise<IdempotencyClaim | 'mine'> {
  for (let left = claimAttempts; left > 0; left -= 1) {
    const found = await claimKey(query, hold, leaseMs);
    if (found?.isMine) return 'mine';
    if (!found) continue;
    const { fingerprint } = found;
    if (!fingerprint) return { outcome: 'running' };
    const isOf = (digest: Buffer) => isSame(fingerprint, seal.fingerprintOf(hold.id, digest));
    return { outcome: 'answered', replyTo: (digest) => (isOf(digest) ? replyOf(found, seal, hold.id) : undefined) };
  }
  return { outcome: 'running' };
}

function replyOf({ answer, written }: FoundKey, seal: KeySeal, id: Buffer): KeptReply | 'forgotten' {
  if (written) return { status: written.status, headers: { ETag: written.etag }, json: written.json };
  return answer ? seal.open(id, answer) : 'forgotten';
}

interface Holding {
  readonly query: Query;
  readonly log: Logger;
  readonly seal: KeySeal;
  readonly leaseMs: number;
}

/** Renews the lease until the work is done. A later failure with the key must not hide that the work was done. */
function holdKey({ query, log, seal, leaseMs }: Holding, hold: Hold): FirstClaim {
  const endRenewal = heartbeat(
    leaseMs / 3,
    () => renewLease(query, hold, leaseMs),
    (error) => log.warn({ err: error }, 'cannot renew an idempotency key lease'),
  );
  async function end(work: Promise<unknown>): Promise<void> {
    endRenewal();
    await work.catch((error) => log.warn({ err: error }, 'cannot complete an idempotency key; its lease will run out'));
  }
  const keepIn: FirstClaim['keepIn'] = (run, reply, digest) => {
    endRenewal();
    return keepAnswer(run, hold, seal.fingerprintOf(hold.id, digest), seal.seal(hold.id, reply));
  };
  return {
    outcome: 'first',
    keep: (reply, digest) => end(keepIn(query, reply, digest)),
    keepIn,
    release: () => end(releaseKey(query, hold)),
  };
}
