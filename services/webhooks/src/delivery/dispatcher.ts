import { setTimeout as delay } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import type { EgressClient } from '@recordbus/egress';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { attemptDelivery } from './attempt.ts';
import { claimDue, type LeasedDelivery } from './claim.ts';
import { createHeldLeases, leaseSec } from './held-leases.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import type { AttemptOutcome } from './record-outcomes.ts';
import { createRunningAttempts, isShareTaken, shareOf } from './running-attempts.ts';

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
/** Retries due later than this wait for the next interval. */
const timedRetryMs = 60_000;
/** Longest wait of `stop` for attempts in progress, in milliseconds. */
const stopTimeoutMs = 12_000;

/** Creates the dispatcher of this process; it does nothing before `start`. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { query, client, log, idleMs = defaultIdleMs, onBegin, onRecorded } = options;
  const attempts = createRunningAttempts();
  const leases = createHeldLeases(query, log);
  const claiming = every({ name: 'claim deliveries', log, intervalMs: idleMs, retryMs: failureMs, run: claimAndBegin });
  const writer = createOutcomeWriter({ query, log, onWritten });
  /** Whether the last claim may have left due deliveries for lack of room. The end of an attempt then claims again. */
  let leftSomeBehind = true;

  function onWritten(outcomes: readonly AttemptOutcome[], counted: readonly AttemptOutcome[]): void {
    onRecorded(counted);
    for (const { leaseToken, verdict, delayMs } of outcomes) {
      leases.remove(leaseToken);
      if (verdict === 'retry' && delayMs < timedRetryMs) setTimeout(claiming.wakeSoon, delayMs).unref();
    }
  }

  async function attempt(claim: LeasedDelivery): Promise<void> {
    try {
      onBegin(claim);
      writer.add(await attemptDelivery(client, claim));
    } finally {
      if (leftSomeBehind) claiming.wakeSoon();
    }
  }

  async function claimAndBegin(ending: AbortSignal): Promise<number | undefined> {
    // This claim still counts attempts that end while it runs, so their ends must wake the next claim.
    leftSomeBehind = true;
    const limit = Math.min(claimLimit, maxUnderWay - attempts.size);
    if (limit <= 0) return undefined;
    const perWebhook = shareOf(attempts.size);
    const inFlight = attempts.countByWebhook();
    const claims = await claimDue(query, { limit, perWebhook, inFlight, leaseSec });
    leftSomeBehind = claims.length === limit || isShareTaken(claims, inFlight, perWebhook);
    leases.add(claims);
    if (!ending.aborted) for (const claim of claims) attempts.run(claim.webhook_id, () => attempt(claim));
    return claims.length === limit ? 0 : undefined;
  }

  return {
    start() {
      claiming.start();
      leases.startRenewing();
    },
    wake: claiming.wake,
    get underWay() {
      return attempts.size;
    },
    async stop() {
      await claiming.stop();
      await Promise.race([attempts.ended(), delay(stopTimeoutMs, undefined, { ref: false })]);
      await leases.stopRenewing();
      await writer.stop();
      await leases.release();
    },
  };
}
