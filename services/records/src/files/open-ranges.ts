import type { Query } from '@recordbus/database';
import { every, skipped } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { idsStartOf } from '@recordbus/storage';
import { announceRange, endRanges, makeRangesDue, renewRanges } from './range-statements.ts';
import type { Removals } from './removals.ts';

/** How often ranges are ended and renewed, in milliseconds. */
const tendingMs = 1000;
/** A range ends when it has had no upload for this long, in milliseconds: new ids no longer have its start. */
const idleMs = 1000;
const renewalMs = 60_000;

/** A range that is announced, or is being announced. */
export interface OpenRange {
  /** The id of its row. */
  readonly id: Promise<number>;
  /** Ends an upload. `isUncertain` tells that its create may still commit, although its request has failed. */
  leave(isUncertain: boolean): void;
}

/** The ranges in which this process has uploads. */
export interface OpenRanges {
  /** Announces the range of a record, unless it is open, and counts an upload to it. */
  enter(collectionId: string, recordId: string): OpenRange;
  start(): void;
  /** Call it when no upload is running. */
  stop(): Promise<void>;
}

export interface OpenRangesDeps {
  /** Announces ranges. Uploads wait for it. */
  readonly announce: Query;
  readonly query: Query;
  readonly removals: Pick<Removals, 'wake'>;
  readonly log: Logger;
}

interface Range extends OpenRange {
  uploads: number;
  usedAtMs: number;
  renewedAtMs: number;
  isUncertain: boolean;
}

/**
 * Creates the ranges of this process. A range without uploads ends, and its row is deleted. An uncertain one becomes due
 * instead. A row that cannot be deleted becomes due by itself.
 */
export function createOpenRanges({ announce, query, removals, log }: OpenRangesDeps): OpenRanges {
  const open = new Map<string, Range>();
  const tending = every({
    name: 'renew the announcements of uploads',
    log,
    intervalMs: tendingMs,
    async run() {
      if (open.size === 0) return skipped;
      await tend(idleMs);
      return undefined;
    },
  });

  function openRange(key: string, id: Promise<number>): Range {
    const nowMs = performance.now();
    const range: Range = {
      id,
      uploads: 0,
      usedAtMs: nowMs,
      renewedAtMs: nowMs,
      isUncertain: false,
      leave(isUncertain) {
        range.uploads -= 1;
        range.usedAtMs = performance.now();
        range.isUncertain ||= isUncertain;
      },
    };
    open.set(key, range);
    // The next upload announces it again.
    id.catch(() => open.get(key) === range && open.delete(key));
    return range;
  }

  async function tend(minIdleMs: number): Promise<void> {
    const nowMs = performance.now();
    const ended = [...open].filter(([, { uploads, usedAtMs }]) => uploads === 0 && nowMs - usedAtMs >= minIdleMs);
    for (const [key] of ended) open.delete(key);
    const old = [...open.values()].filter(({ renewedAtMs }) => nowMs - renewedAtMs >= renewalMs);
    for (const range of old) range.renewedAtMs = nowMs;
    const change = async (ranges: readonly Range[], write: typeof endRanges) =>
      ranges.length > 0 && write(query, await Promise.all(ranges.map(({ id }) => id)));
    const uncertain = ended.flatMap(([, range]) => (range.isUncertain ? range : []));
    const certain = ended.flatMap(([, range]) => (range.isUncertain ? [] : range));
    await Promise.all([change(certain, endRanges), change(old, renewRanges), change(uncertain, makeRangesDue)]);
    if (uncertain.length > 0) removals.wake();
  }

  return {
    enter(collectionId, recordId) {
      const idsStart = idsStartOf(recordId);
      const key = `${collectionId}/${idsStart}`;
      const range = open.get(key) ?? openRange(key, announceRange(announce, collectionId, idsStart));
      range.uploads += 1;
      return range;
    },
    start: tending.start,
    async stop() {
      await tending.stop();
      await tend(0).catch((error) => log.warn({ err: error }, 'cannot end the announcements of uploads'));
    },
  };
}
