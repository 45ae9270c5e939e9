import type { SnapshotWork } from '@recordbus/database';
import { unavailable } from '@recordbus/errors';
import { createFairGate } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import type { RecordReads } from '../read/record-reads.ts';
import { type RankedSearch, rankCandidates, rankExactly } from './rank-candidates.ts';
import type { Scored } from './top-k.ts';
import { createVectorMemory } from './vector-memory.ts';

/** Ranks records by their vectors, a few searches at a time. */
export interface VectorRanking {
  /** Runs a search's work in one snapshot, when its caller has a turn. */
  inSnapshot<T>(work: SnapshotWork<T>): Promise<T>;
  /** Returns the top k among the rows that list rule and filter admit, and the candidates that may belong to them. */
  candidates(search: RankedSearch): Promise<readonly Scored[]>;
  /** Returns the ids of the top k, the best first. */
  nearest(search: RankedSearch): Promise<readonly string[]>;
}

/**
 * Each search holds a connection for all its statements and keeps the processor busy. More at once would only take both
 * from other requests.
 */
const gateOptions = {
  width: 4,
  widthPerClient: 2,
  reserved: 1,
  maxWaiting: 200,
  maxWaitingPerClient: 100,
  maxWaitMs: 10_000,
  refuse: () => unavailable('too many vector searches are waiting'),
};

/** Creates the ranking and its vector memory. */
export function createVectorRanking(reads: Pick<RecordReads, 'snapshot'>, memoryLimitBytes?: number): VectorRanking {
  const memory = createVectorMemory(memoryLimitBytes);
  const gate = createFairGate(gateOptions);
  return {
    inSnapshot: (work) => gate.run(currentCaller(), () => reads.snapshot(work)),
    candidates: (search) => rankCandidates(search, memory),
    nearest: (search) => rankExactly(search, memory),
  };
}
