import { setTimeout as delay } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import type { EgressClient } from '@recordbus/egress';
import type { Logger } from '@recordbus/process/logging';
import { createQueueWorker } from '@recordbus/queue';
import { attemptDelivery } from './attempt.ts';
import { attemptBatch } from './attempt-batch.ts';
import { createBatches } from './batch-worker.ts';
import { type ClaimLimits, claimDue, type LeasedDelivery } from './claim.ts';
import { countRequests, deliveriesOf, formBatches, isBatch, type Sending } from './form-batches.ts';
import { createHeldLeases, leaseSec, releaseAll } from './held-leases.ts';
import type { Lanes } from './lane-worker.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import type { AttemptOutcome } from './record-outcomes.ts';

/** Sends due deliveries. Any number of replicas may run one at the same time. */
interface Dispatcher {
  start(): void;
  /** Checks for due deliveries now. */
  wake(): void;
  /** Checks in a few milliseconds, once for all callers until then. */
  wakeSoon(): void;
  /** How many attempts are in progress. */
  readonly underWay: number;
  /** Waits a limited time for attempts in progress, then releases the remaining leases to other replicas. */
  stop(): Promise<void>;
}

export interface DispatcherOptions {
  readonly query: Query;
  /** The client for a delivery's webhook. */
  readonly clientOf: (claim: LeasedDelivery) => EgressClient;
  readonly log: Logger;
  /** The interval between claims without a wake-up, in milliseconds; 2,000 by default. */
  readonly idleMs?: number;
  /** Returns the leased deliveries that may still be sent, and ends the others (webhooks §9.4). */
  readonly recheck: (claims: readonly LeasedDelivery[]) => Promise<readonly LeasedDelivery[]>;
  /** Ordered deliveries. */
  readonly lanes: Pick<Lanes, 'claim' | 'isUsed' | 'areBatchesUsed'>;
  /** Called when an attempt begins. */
  readonly onBegin: (claim: LeasedDelivery) => void;
  /** Called with the outcomes that were recorded and counted. */
  readonly onRecorded: (outcomes: readonly AttemptOutcome[]) => void;
}

/** The largest claim (webhooks §2.8). */
const claimLimit = 50;
/** How many attempts a process may have in progress, over all webhooks. */
export const maxUnderWay = 1000;
/** Retries due later than this wait for the next interval. */
const timedRetryMs = 60_000;
/** Claims that a rate causes are at least this far apart. */
const leastRateWakeMs = 50;
/** The wait for the fan-out, before ordered deliveries are claimed again. */
const earlyMs = 25;
/** How long `stop` waits for attempts in progress, in milliseconds. */
const stopTimeoutMs = 12_000;

/** Creates this process's dispatcher; it does nothing before `start`. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { query, clientOf, log, idleMs, recheck, lanes, onBegin, onRecorded } = options;
  const leases = createHeldLeases(query, log);
  const writer = createOutcomeWriter({ query, log, onWritten });
  const worker = createQueueWorker<Sending>({
    name: 'claim deliveries',
    log,
    idleMs,
    maxRunning: maxUnderWay,
    maxClaim: claimLimit,
    async claim(limit) {
      const { running } = worker;
      const perWebhook = shareOf(running.length);
      const sinceMs = performance.now();
      const claimed = await claim({ limit, perWebhook, inFlight: countByWebhook(running), leaseSec });
      const [admitted, items] = await prepare(claimed).catch(async (error: unknown) => {
        // They were not attempted, so their leases do not count as lost.
        await releaseAll(query, claimed);
        throw error;
      });
      leases.add(admitted, sinceMs);
      const counts = countByWebhook([...running, ...items]);
      wakeForRates(claimed);
      if (lanes.areBatchesUsed) batches.watch();
      // Where deliveries were ended, others may be due.
      const hasEnded = admitted.length < claimed.length;
      return { items, leftSome: hasEnded || counts.values().some((count) => count >= perWebhook) };
    },
    async work(sending, ending) {
      if (ending.aborted) return;
      const [first] = isBatch(sending) ? sending.deliveries : [sending];
      for (const delivery of deliveriesOf(sending)) onBegin(delivery);
      const mayStart = first.lane && (() => leases.isSafe(first.lease_token));
      const client = clientOf(first);
      writer.add(
        isBatch(sending)
          ? await attemptBatch(client, sending, mayStart)
          : [await attemptDelivery(client, sending, mayStart)],
      );
    },
  });
  const batches = createBatches(query, worker.wake);

  /** Returns the claimed deliveries that may be sent, and the requests that send them. */
  async function prepare(claimed: readonly LeasedDelivery[]) {
    const admitted = await recheck(claimed);
    return [admitted, await formBatches(query, admitted)] as const;
  }

  let turn = 0;

  /** Claims from the queues. They take turns to be the first one, so that none waits for another's backlog. */
  async function claim(limits: ClaimLimits): Promise<readonly LeasedDelivery[]> {
    const queues = [claimFree];
    if (lanes.isUsed) queues.push(claimOrdered);
    if (lanes.areBatchesUsed) queues.push(claimBatched);
    turn = (turn + 1) % queues.length;
    const claimed: LeasedDelivery[] = [];
    try {
      for (const claimFrom of [...queues.slice(turn), ...queues.slice(0, turn)]) {
        const limit = limits.limit - countRequests(claimed);
        if (limit > 0) claimed.push(...(await claimFrom({ ...limits, limit })));
      }
      return claimed;
    } catch (error) {
      // Nobody would send them.
      if (claimed.length > 0) await releaseAll(query, claimed);
      throw error;
    }
  }

  async function claimBatched(limits: ClaimLimits): Promise<readonly LeasedDelivery[]> {
    const claimed = await batches.claim(limits);
    // Each webhook may have further batches.
    if (claimed.length > 0) worker.wakeSoon();
    return claimed;
  }

  const claimFree = (limits: ClaimLimits): Promise<readonly LeasedDelivery[]> => claimDue(query, limits);

  async function claimOrdered(limits: ClaimLimits): Promise<readonly LeasedDelivery[]> {
    const { claims, isEarly } = await lanes.claim(limits);
    if (isEarly) setTimeout(worker.wakeSoon, earlyMs).unref();
    return claims;
  }

  /** A webhook with a rate has its next slot before the idle interval ends. */
  function wakeForRates(claimed: readonly LeasedDelivery[]): void {
    for (const rate of new Set(claimed.map((claim) => claim.rate)))
      if (rate !== null) setTimeout(worker.wakeSoon, Math.max(1000 / rate, leastRateWakeMs)).unref();
  }

  function onWritten(outcomes: readonly AttemptOutcome[], counted: readonly AttemptOutcome[]): void {
    onRecorded(counted.filter(({ isSameRequest }) => !isSameRequest));
    // Their lanes' next deliveries are due.
    if (outcomes.some(({ lane, verdict }) => lane && verdict !== 'retry')) worker.wakeSoon();
    for (const { leaseToken, verdict, delayMs } of outcomes) {
      leases.remove(leaseToken);
      if (verdict === 'retry' && delayMs < timedRetryMs) setTimeout(worker.wakeSoon, delayMs).unref();
    }
  }

  return {
    start() {
      worker.start();
      leases.start();
    },
    wake: worker.wake,
    wakeSoon: worker.wakeSoon,
    get underWay() {
      return worker.running.length;
    },
    async stop() {
      await Promise.race([worker.stop(), delay(stopTimeoutMs, undefined, { ref: false })]);
      batches.stop();
      await writer.stop();
      await leases.stop();
    },
  };
}

/**
 * How many attempts one webhook may have in progress: many while the process is idle, few when many receivers hang.
 */
const shareOf = (underWay: number): number => (underWay < 200 ? 64 : underWay < 600 ? 8 : 2);

/** Counts requests by webhook. */
function countByWebhook(sendings: readonly Sending[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { webhook_id } of sendings) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1);
  return counts;
}
