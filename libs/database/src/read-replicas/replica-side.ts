import type { Logger } from '@recordbus/process/logging';
import type { Metrics } from '@recordbus/process/metrics';
import { type Consistency, onlyPrimary } from '@recordbus/request/consistency';
import type { ReadLane } from '../connections/read-lane.ts';
import type { SessionSettings } from '../connections/session-settings.ts';
import type { WorkHooks, WorkPlaces } from '../connections/work-places.ts';
import type { Primary } from '../servers/primary.ts';
import { consistencyOf, markTimeline, type Position, primaryPosition } from './position.ts';
import { createPrimaryLog } from './primary-log.ts';
import { createReadReplicas, type ReadReplicas } from './read-replicas.ts';
import { createReplicaMeter } from './replica-meter.ts';

/** What a database with read replicas adds. */
export interface ReplicaSide {
  /** Returns a state that includes all commits before the call. Never rejects. */
  state(): Promise<Consistency>;
  /** The replicas, for a service that reads on them. */
  readonly reading: ReadReplicas | undefined;
  catchUp(): void;
  findProblem(): string | undefined;
  close(): Promise<void>;
}

interface ReplicaSideOptions {
  readonly replicaUrls?: readonly string[] | undefined;
  readonly readsReplicas?: boolean;
  readonly name: string;
  readonly log: Logger;
  readonly metrics?: Metrics;
  /** The settings for client reads. */
  readonly settings: SessionSettings;
  readonly onRan: NonNullable<WorkHooks['onRan']>;
  /** Connections to the primary. */
  readonly gets: Pick<ReadLane, 'read'>;
  readonly background: Pick<WorkPlaces, 'query'>;
  readonly primary: Pick<Primary, 'onFailover'>;
}

/** Opens these parts; undefined without read replicas. */
export async function openReplicaSide(options: ReplicaSideOptions): Promise<ReplicaSide | undefined> {
  const { replicaUrls = [], readsReplicas = false, log, gets, background, primary } = options;
  if (replicaUrls.length === 0) {
    // The metrics exist on every deployment.
    if (readsReplicas) createReplicaMeter(options.metrics, [], { ageOf: () => 0 });
    return undefined;
  }
  const ask = createCoalescedAsk(async () => {
    const [position] = await gets.read<Position>(primaryPosition);
    if (!position) throw new Error('the database has no position');
    return position;
  });
  const state = (): Promise<Consistency> => ask().then(consistencyOf, () => onlyPrimary);
  if (!readsReplicas)
    return { state, reading: undefined, catchUp() {}, findProblem: () => undefined, close: async () => {} };
  const primaryLog = createPrimaryLog({ ask, mark: () => background.query(markTimeline), log });
  const reading = createReadReplicas({ ...options, urls: replicaUrls, primaryLog });
  await primaryLog.start();
  await reading.start();
  const endFailovers = primary.onFailover(primaryLog.raiseFloor);
  return {
    state,
    reading,
    catchUp: primaryLog.raiseFloor,
    findProblem: reading.findProblem,
    async close() {
      endFailovers();
      await primaryLog.stop();
      await reading.close();
    },
  };
}

/**
 * Returns a function whose calls within one event loop turn share one query. The query begins after them, so its answer
 * is valid for all of them.
 */
function createCoalescedAsk<T>(ask: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  return () => {
    next ??= new Promise<void>((begin) => setImmediate(begin)).then(() => {
      next = undefined;
      return ask();
    });
    return next;
  };
}
