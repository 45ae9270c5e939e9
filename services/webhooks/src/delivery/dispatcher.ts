import { setTimeout as sleep } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import type { EgressClient } from '@recordbus/egress';
import type { Logger } from '@recordbus/shared/logging';
import { createWakeup } from '@recordbus/shared/wakeup';
import { attemptDelivery } from './attempt.ts';
import { type Claim, claimDue, releaseLeases, renewLeases } from './claim.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import type { Outcome } from './record-outcomes.ts';

/** Sends what is due, on any number of replicas at once. */
interface Dispatcher {
  start(): void;
  /** To be called when there may be something due. */
  wake(): void;
  /** Attempts that are being made. */
  readonly underWay: number;
  /** Lets attempts under way end, for a while, and gives the rest back to the other replicas. */
  stop(): Promise<void>;
}

interface DispatcherOptions {
  readonly query: Query;
  readonly client: EgressClient;
  readonly log: Logger;
  /** How long to wait for a reason to look for what is due; 2 s when not given. */
  readonly idleMs?: number;
  /** Called when an attempt begins. */
  readonly onBegin: (claim: Claim) => void;
  /** Called with the outcomes that were recorded and counted. */
  readonly onRecorded: (outcomes: readonly Outcome[]) => void;
}

/** Interface §8: claims of at most 50, every 2 s when nothing else calls for one. */
const claimLimit = 50;
const defaultIdleMs = 2000;
/** Attempts that a process makes at a time, all webhooks together. */
export const maxUnderWay = 1000;
const failureMs = 1000;
/** A process that died is noticed after this; longer attempts renew their leases on the way. */
const leaseSec = 12;
const renewEveryMs = 3000;
/** Retries that are due later than this are found by the idle tick. */
const timedRetryMs = 60_000;
const stopPatienceMs = 12_000;

/** What one webhook may have under way: much while there is little else, little when many hang. */
const shareOf = (underWay: number) => (underWay < 200 ? 64 : underWay < 600 ? 8 : 2);

/** Did a webhook have, or get by these claims, all that it may have under way? */
function isShareTaken(claims: readonly Claim[], inFlight: ReadonlyMap<string, number>, perWebhook: number): boolean {
  const counts = new Map(inFlight);
  for (const { webhook_id } of claims) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1);
  return counts.values().some((count) => count >= perWebhook);
}

/** Makes the dispatcher of this process; it does nothing before `start`. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { query, client, log, idleMs = defaultIdleMs, onBegin, onRecorded } = options;
  /** Claims whose attempts run, by webhook; and all that are leased: those, and those whose outcomes are not written. */
  const running = new Map<string, number>();
  const leased = new Map<string, { readonly claim: Claim; readonly sinceMs: number }>();
  const attempts = new Set<Promise<void>>();
  const wakeup = createWakeup();
  const writer = createOutcomeWriter({ query, log, onWritten });
  /** May the last claim have left something due behind, for want of room? Then whoever ends makes room for another. */
  let leftSomeBehind = true;
  let stopping = false;
  let looping = Promise.resolve();
  let renewing: NodeJS.Timeout | undefined;

  function onWritten(outcomes: readonly Outcome[], counted: readonly Outcome[]): void {
    onRecorded(counted);
    for (const { leaseToken, verdict, delayMs } of outcomes) {
      leased.delete(leaseToken);
      if (verdict === 'retry' && delayMs < timedRetryMs) setTimeout(wakeup.wakeSoon, delayMs).unref();
    }
  }

  async function attempt(claim: Claim): Promise<void> {
    const { webhook_id } = claim;
    running.set(webhook_id, (running.get(webhook_id) ?? 0) + 1);
    try {
      onBegin(claim);
      writer.add(await attemptDelivery(client, claim));
    } finally {
      const before = running.get(webhook_id) ?? 1;
      if (leftSomeBehind) wakeup.wakeSoon();
      if (before > 1) running.set(webhook_id, before - 1);
      else running.delete(webhook_id);
    }
  }

  async function claimAndBegin(): Promise<boolean> {
    // Attempts that end while the claim is under way were still counted by it, so they have to wake the next one.
    leftSomeBehind = true;
    const limit = Math.min(claimLimit, maxUnderWay - attempts.size);
    if (limit <= 0) return false;
    const perWebhook = shareOf(attempts.size);
    const inFlight = new Map(running);
    const claims = await claimDue(query, { limit, perWebhook, inFlight, leaseSec });
    leftSomeBehind = claims.length === limit || isShareTaken(claims, inFlight, perWebhook);
    const sinceMs = performance.now();
    for (const claim of claims) {
      leased.set(claim.lease_token, { claim, sinceMs });
      if (stopping) continue;
      const begun = attempt(claim).finally(() => attempts.delete(begun));
      attempts.add(begun);
    }
    return claims.length === limit;
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      wakeup.reset();
      try {
        if (await claimAndBegin()) continue;
        await wakeup.wait(idleMs);
      } catch (error) {
        log.warn({ err: error }, 'deliveries could not be claimed');
        await sleep(failureMs);
      }
    }
  }

  async function renew(): Promise<void> {
    const oldMs = performance.now() - renewEveryMs;
    const long = [...leased.values()].filter(({ sinceMs }) => sinceMs < oldMs).map(({ claim }) => claim);
    try {
      if (long.length > 0) await renewLeases(query, long, leaseSec);
    } catch (error) {
      log.warn({ err: error, leases: long.length }, 'leases of deliveries were not renewed');
    }
    if (!stopping) renewing = setTimeout(renew, renewEveryMs);
  }

  return {
    start() {
      looping = loop();
      renewing = setTimeout(renew, renewEveryMs);
    },
    wake: wakeup.wake,
    get underWay() {
      return attempts.size;
    },
    async stop() {
      stopping = true;
      wakeup.wake();
      await looping;
      await Promise.race([Promise.all(attempts), sleep(stopPatienceMs, undefined, { ref: false })]);
      clearTimeout(renewing);
      await writer.flush();
      const unfinished = [...leased.values()].map(({ claim }) => claim);
      if (unfinished.length > 0) await releaseLeases(query, unfinished);
    },
  };
}
