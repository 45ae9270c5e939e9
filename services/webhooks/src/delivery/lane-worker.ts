import type { Query } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { ClaimLimits, LeasedDelivery } from './claim.ts';
import { claimLanes } from './claim-lanes.ts';
import { beforeLanes, findUse, freeLanes, removeAbandonedLanes } from './lane-queue.ts';
import type { StreamPlaces } from './stream-place.ts';

/**
 * Claims ordered deliveries, and knows whether there are batches. Where no webhook has an order or batches, it runs one statement
 * at the start and every 30 s.
 */
export interface Lanes {
  start(): Promise<void>;
  /** Returns the stream's life, for deliveries that this process puts into lanes. */
  readLife(): Promise<number>;
  /** Notes that this process has handled the event with this number in the stream. */
  note(sequence: number): void;
  /** Call it when webhooks may have changed. */
  check(): void;
  /** Leases lanes' first deliveries. `isEarly`: some may be due soon, when the fan-out has come further. */
  claim(limits: ClaimLimits): Promise<{ readonly claims: readonly LeasedDelivery[]; readonly isEarly: boolean }>;
  /** Whether there may be deliveries in lanes. */
  readonly isUsed: boolean;
  /** Whether a webhook has batches. */
  readonly areBatchesUsed: boolean;
  stop(): Promise<void>;
}

interface LanesOptions {
  readonly query: Query;
  readonly log: Logger;
  readonly places: StreamPlaces;
  /** Called when lanes were freed. */
  readonly onFreed: () => void;
}

const checkEveryMs = 30_000;

/** Creates this process's part in the lanes. */
export function createLanes({ query, log, places, onFreed }: LanesOptions): Lanes {
  let isUsed = false;
  let areBatchesUsed = false;
  let newest = 0;
  let place = beforeLanes;
  const checking = every({
    name: 'check the delivery lanes',
    log,
    intervalMs: checkEveryMs,
    firstAfterMs: checkEveryMs,
    run: check,
  });

  async function check(): Promise<void> {
    const were = { isUsed, areBatchesUsed };
    ({ hasLanes: isUsed, hasBatches: areBatchesUsed } = await findUse(query));
    const hasFreed = isUsed && (await freeLanes(query));
    if (isUsed) place = await removeAbandonedLanes(query, place);
    if (hasFreed || (isUsed && !were.isUsed) || (areBatchesUsed && !were.areBatchesUsed)) onFreed();
  }

  return {
    async start() {
      await check();
      checking.start();
    },
    readLife() {
      isUsed = true;
      return places.readLife();
    },
    note(sequence) {
      newest = sequence;
    },
    check: checking.wake,
    async claim(limits) {
      const place = isUsed && limits.limit > 0 ? await places.read() : undefined;
      if (!place) return { claims: [], isEarly: false };
      const claims = await claimLanes(query, limits, place);
      return { claims, isEarly: place.sequence < newest };
    },
    get isUsed() {
      return isUsed;
    },
    get areBatchesUsed() {
      return areBatchesUsed;
    },
    stop: checking.stop,
  };
}
