import { setTimeout as delay } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import type { EgressClient } from '@recordbus/egress';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { attemptDelivery } from './attempt.ts';
import { claimDue, type LeasedDelivery, releaseLeases, renewLeases } from './claim.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import type { AttemptOutcome } from './record-outcomes.ts';

/** Sends due deliveries. Any number of replicas may run one at the same time. */
interface Dispatcher {
  start(): void;
  /** Checks for due deliveries now. */
  wake(): void;
  /** The number of attempts in progress. */
  readonly underWay: number;
  /** Waits a limited time for attempts in progress, then releases the remaining leases to other replicas. */
  stop(): Promise<void>;
}

interface DispatcherOptions {
  readonly query: Query;
  readonly client: EgressClient;
  readonly log: Logger;
  /** The interval between claims without a wake-up, in milliseconds; 2,000 by default. */
  readonly idleMs?: number;
  /** Called when an attempt begins. */
  readonly onBegin: (claim: LeasedDelivery) => void;
  /** Called with the outcomes that were recorded and counted. */
  readonly onRecorded: (outcomes: readonly AttemptOutcome[]) => void;
}

/** The largest claim, and the wait between claims without a wake-up (webhooks §2.8). */
const claimLimit = 50;
const defaultIdleMs = 2000;
/** The most attempts of a process at once, over all webhooks. */
export const maxUnderWay = 1000;
const failureMs = 1000;
/** After this time another replica takes over the deliveries of a dead process; longer attempts renew their leases. */
const leaseSec = 12;
const renewEveryMs = 3000;
/** Retries due later than this wait for the next interval. */
const timedRetryMs = 60_000;
/** Longest wait of `stop` for attempts in progress, in milliseconds. */
const stopTimeoutMs = 12_000;

/** The most attempts of one webhook at once: many while the process is idle, few when many receivers hang. */
const shareOf = (underWay: number) => (underWay < 200 ? 64 : underWay < 600 ? 8 : 2);

/** Whether a webhook reaches its share with these claims. */
function isShareTaken(
  claims: readonly LeasedDelivery[],
  inFlight: ReadonlyMap<string, number>,
  perWebhook: number,
): boolean {
  const counts = new Map(inFlight);
  for (const { webhook_id } of claims) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1);
  return counts.values().some((count) => count >= perWebhook);
}

/** Creates the dispatcher of this process; it does nothing before `start`. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { query, client, log, idleMs = defaultIdleMs, onBegin, onRecorded } = options;
  /** `running` counts the attempts of each webhook. `leased` also holds those whose outcome is not written yet. */
  const running = new Map<string, number>();
  const leased = new Map<string, { readonly claim: LeasedDelivery; readonly sinceMs: number }>();
  const attempts = new Set<Promise<void>>();
  const claiming = every({
    name: 'claim deliveries',
    log,
    intervalMs: idleMs,
    retryMs: failureMs,
    run: claimAndBegin,
  });
  const renewing = every({
    name: 'renew the leases of deliveries',
    log,
    fields: () => ({ leases: leased.size }),
    intervalMs: renewEveryMs,
    firstAfterMs: renewEveryMs,
    run: renew,
  });
  const writer = createOutcomeWriter({ query, log, onWritten });
  /** Whether the last claim may have left due deliveries for lack of room. The end of an attempt then claims again. */
  let leftSomeBehind = true;

  function onWritten(outcomes: readonly AttemptOutcome[], counted: readonly AttemptOutcome[]): void {
    onRecorded(counted);
    for (const { leaseToken, verdict, delayMs } of outcomes) {
      leased.delete(leaseToken);
      if (verdict === 'retry' && delayMs < timedRetryMs) setTimeout(claiming.wakeSoon, delayMs).unref();
    }
  }

  async function attempt(claim: LeasedDelivery): Promise<void> {
    const { webhook_id } = claim;
    running.set(webhook_id, (running.get(webhook_id) ?? 0) + 1);
    try {
      onBegin(claim);
      writer.add(await attemptDelivery(client, claim));
    } finally {
      const before = running.get(webhook_id) ?? 1;
      if (leftSomeBehind) claiming.wakeSoon();
      if (before > 1) running.set(webhook_id, before - 1);
      else running.delete(webhook_id);
    }
  }

  async function claimAndBegin(ending: AbortSignal): Promise<number | undefined> {
    // This claim still counts attempts that end while it runs, so their ends must wake the next claim.
    leftSomeBehind = true;
    const limit = Math.min(claimLimit, maxUnderWay - attempts.size);
    if (limit <= 0) return undefined;
    const perWebhook = shareOf(attempts.size);
    const inFlight = new Map(running);
    const claims = await claimDue(query, { limit, perWebhook, inFlight, leaseSec });
    leftSomeBehind = claims.length === limit || isShareTaken(claims, inFlight, perWebhook);
    const sinceMs = performance.now();
    for (const claim of claims) {
      leased.set(claim.lease_token, { claim, sinceMs });
      if (ending.aborted) continue;
      const begun = attempt(claim).finally(() => attempts.delete(begun));
      attempts.add(begun);
    }
    return claims.length === limit ? 0 : undefined;
  }

  async function renew(): Promise<void> {
    const oldMs = performance.now() - renewEveryMs;
    const due = [...leased.values()].filter(({ sinceMs }) => sinceMs < oldMs).map(({ claim }) => claim);
    if (due.length > 0) await renewLeases(query, due, leaseSec);
  }

  return {
    start() {
      claiming.start();
      renewing.start();
    },
    wake: claiming.wake,
    get underWay() {
      return attempts.size;
    },
    async stop() {
      await claiming.stop();
      await Promise.race([Promise.all(attempts), delay(stopTimeoutMs, undefined, { ref: false })]);
      await renewing.stop();
      await writer.flush();
      const unfinished = [...leased.values()].map(({ claim }) => claim);
      if (unfinished.length > 0) await releaseLeases(query, unfinished);
    },
  };
}
