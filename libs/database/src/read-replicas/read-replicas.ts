import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Metrics } from '@recordbus/process/metrics';
import type { Consistency } from '@recordbus/request/consistency';
import type { SessionSettings } from '../connections/session-settings.ts';
import type { WorkHooks } from '../connections/work-places.ts';
import type { PositionCheck } from '../driver/preludes.ts';
import { isConnectionError, isDatabaseError, sqlState } from '../errors.ts';
import type { ReplicaRead } from '../statement.ts';
import { laterPosition, type Position, positionOf } from './position.ts';
import type { PrimaryLog } from './primary-log.ts';
import { createReadReplica, type ReadReplica } from './read-replica.ts';
import { createReplicaMeter } from './replica-meter.ts';
import { createUntilReached } from './until-reached.ts';

/** The standbys that serve reads. */
export interface ReadReplicas {
  /** Reads on a replica that is recent enough. If there is none, or it does not answer, reads on the primary. */
  read<R>(
    from: ReplicaRead,
    onReplica: (replica: ReadReplica, check: PositionCheck) => Promise<R[]>,
    onPrimary: () => Promise<R[]>,
  ): Promise<R[]>;
  /** Describes their problem in a sentence; undefined if all can be used. */
  findProblem(): string | undefined;
  start(): Promise<void>;
  close(): Promise<void>;
}

interface ReadReplicasOptions {
  readonly urls: readonly string[];
  readonly name: string;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  readonly settings: SessionSettings;
  readonly onRan: NonNullable<WorkHooks['onRan']>;
  readonly primaryLog: PrimaryLog;
}

/** How often each replica is checked, in milliseconds. */
const lookMs = 1000;

/** Creates the read replicas. None is used before `start`. */
export function createReadReplicas({ urls, primaryLog, metrics, ...options }: ReadReplicasOptions): ReadReplicas {
  const { log } = options;
  const replicas = urls.map((url) => createReadReplica({ ...options, url }));
  const meter = createReplicaMeter(metrics, replicas, primaryLog);
  let turn = 0;

  /** Returns a replica that has the position. Several replicas take turns. */
  function find({ lsn }: Position): ReadReplica | undefined {
    for (let step = 0; step < replicas.length; step += 1) {
      turn = (turn + 1) % replicas.length;
      const replica = replicas[turn];
      if (replica?.position !== undefined && replica.position >= lsn) return replica;
    }
    return undefined;
  }
  const untilReached = createUntilReached(replicas, find, log);

  function needOf(after: Consistency | undefined): Position | undefined {
    const floor = primaryLog.floor();
    if (!floor || after === undefined) return floor;
    const own = positionOf(after);
    // A timeline later than the known one is a failover that this process has not seen, or a client's invention.
    return own && own.timeline <= floor.timeline ? laterPosition(own, floor) : undefined;
  }

  const looking = every({
    name: 'ask the read replicas for their positions',
    log,
    intervalMs: lookMs,
    async run() {
      const { latest } = primaryLog;
      if (latest) await Promise.all(replicas.map((replica) => replica.look(latest.timeline)));
    },
  });

  return {
    async read(from, onReplica, onPrimary) {
      const needed = needOf(from.after);
      const replica = needed && (find(needed) ?? (await untilReached.wait(needed)));
      if (!replica) {
        meter.wasBehind();
        return onPrimary();
      }
      const check = checkFor(needed, replica);
      try {
        const rows = await onReplica(replica, check);
        meter.wasRead();
        return rows;
      } catch (error) {
        // The read's own errors come from the primary, which has the newest data.
        if (isOwnLimit(error)) throw error;
        if (isConnectionError(error)) replica.noteFailure(error);
        meter.hasFailed(check.isBehind);
        return onPrimary();
      }
    },
    findProblem() {
      const found = replicas.flatMap(({ address, problem }) =>
        problem === undefined ? [] : [`the read replica ${address} is not used: ${problem}`],
      );
      return found.length === 0 ? undefined : found.join('; ');
    },
    async start() {
      const { latest } = primaryLog;
      if (latest) await Promise.all(replicas.map((replica) => replica.look(latest.timeline)));
      looking.start();
    },
    async close() {
      await Promise.all([looking.stop(), untilReached.stop()]);
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}

/** Whether the read exceeded its own time or size limit, which is the same on every server. */
const isOwnLimit = (error: unknown): boolean => isDatabaseError(error, sqlState.queryCanceled, sqlState.answerTooLarge);

/** A read's check, which also stores the replica's position. */
function checkFor({ timeline, lsn }: Position, replica: ReadReplica): PositionCheck & { readonly isBehind: boolean } {
  let isBehind = false;
  return {
    timeline,
    accepts(position) {
      replica.note(position);
      isBehind = position === undefined || position < lsn;
      return !isBehind;
    },
    get isBehind() {
      return isBehind;
    },
  };
}
