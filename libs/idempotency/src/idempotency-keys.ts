import { randomUUID } from 'node:crypto';
import type { Database, Query } from '@recordbus/database';
import type { Claim, FirstClaim, IdempotencyStore } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { createKeySeal, isSame, type KeySeal } from './key-seal.ts';
import { claimKey, type Hold, keepAnswer, releaseKey, renewLease, sweepKeys } from './key-store.ts';

interface IdempotencyKeysDeps {
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
  /** Raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  /** How long a key is held for a process that says nothing more, in milliseconds. */
  readonly leaseMs?: number;
}

const defaultLeaseMs = 10_000;

/** Claims that find the row come and go before they call it running. */
const claimAttempts = 5;

/** How often a process that is given keys looks for those that are past their time, in milliseconds. */
const sweepIntervalMs = 60_000;
const sweepLimit = 1000;

/**
 * Idempotency keys in PostgreSQL, one store for all replicas (contract §1). A claim is one statement and keeping its
 * answer another, in the transaction of the work where its handler asks for that. A process that dies leaves a lease
 * that runs out.
 */
export function createIdempotencyKeys(deps: IdempotencyKeysDeps): IdempotencyStore {
  const { log, leaseMs = defaultLeaseMs } = deps;
  const { query } = deps.database;
  const seal = createKeySeal(deps.secret);
  let sweptAtMs = performance.now();

  function sweepNowAndThen(): void {
    if (performance.now() - sweptAtMs < sweepIntervalMs) return;
    sweptAtMs = performance.now();
    sweepKeys(query, sweepLimit).catch((error) => log.warn({ err: error }, 'old idempotency keys were not removed'));
  }

  return {
    async claim(identity) {
      const hold: Hold = { id: seal.idOf(identity), token: randomUUID() };
      const claim = await claimHold(query, hold, leaseMs, seal);
      if (claim !== 'mine') return claim;
      sweepNowAndThen();
      return holdKey({ query, log, seal, leaseMs }, hold);
    },
  };
}

async function claimHold(query: Query, hold: Hold, leaseMs: number, seal: KeySeal): Promise<Claim | 'mine'> {
  for (let left = claimAttempts; left > 0; left -= 1) {
    const found = await claimKey(query, hold, leaseMs);
    if (found?.isMine) return 'mine';
    if (!found) continue;
    const { fingerprint, answer } = found;
    if (!fingerprint || !answer) return { outcome: 'running' };
    const isOf = (digest: Buffer) => isSame(fingerprint, seal.fingerprintOf(hold.id, digest));
    return { outcome: 'answered', replyTo: (digest) => (isOf(digest) ? seal.open(hold.id, answer) : undefined) };
  }
  return { outcome: 'running' };
}

interface Holding {
  readonly query: Query;
  readonly log: Logger;
  readonly seal: KeySeal;
  readonly leaseMs: number;
}

/** Renews the lease until the work is done. What goes wrong with the key then must not hide that it was done. */
function holdKey({ query, log, seal, leaseMs }: Holding, hold: Hold): FirstClaim {
  const renewal = setInterval(() => {
    renewLease(query, hold, leaseMs).catch((error) => log.warn({ err: error }, 'a lease was not renewed'));
  }, leaseMs / 3);
  async function end(work: Promise<unknown>): Promise<void> {
    clearInterval(renewal);
    await work.catch((error) => log.warn({ err: error }, 'an idempotency key was left to its lease'));
  }
  const keepIn: FirstClaim['keepIn'] = (run, reply, digest) => {
    clearInterval(renewal);
    return keepAnswer(run, hold, seal.fingerprintOf(hold.id, digest), seal.seal(hold.id, reply));
  };
  return {
    outcome: 'first',
    keep: (reply, digest) => end(keepIn(query, reply, digest)),
    keepIn,
    release: () => end(releaseKey(query, hold)),
  };
}
