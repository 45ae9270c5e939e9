import { type Metrics, sampledGauges } from '@recordbus/process/metrics';
import type { PrimaryLog } from './primary-log.ts';
import type { ReadReplica } from './read-replica.ts';

/** Counts where reads that read replicas may serve have run. */
interface ReplicaMeter {
  wasRead(): void;
  /** Counts a read for which no replica was recent enough in time. */
  wasBehind(): void;
  /** Counts a read that its chosen replica did not serve. */
  hasFailed(isBehind: boolean): void;
}

/** Adds the read replicas' metrics. Without metrics it measures nothing. */
export function createReplicaMeter(
  metrics: Metrics | undefined,
  replicas: readonly ReadReplica[],
  { ageOf }: Pick<PrimaryLog, 'ageOf'>,
): ReplicaMeter {
  if (!metrics) return { wasRead() {}, wasBehind() {}, hasFailed() {} };
  const gauge = (name: string, help: string, read: (replica: ReadReplica) => number | undefined) =>
    sampledGauges(metrics, {
      name,
      help,
      label: 'server',
      sample: () =>
        new Map(
          replicas.flatMap((replica) => {
            const value = read(replica);
            return value === undefined ? [] : [[replica.address, value] as const];
          }),
        ),
    });
  gauge('recordbus_read_replica_up', 'Whether a read replica can be used.', ({ problem }) =>
    problem === undefined ? 1 : 0,
  );
  gauge('recordbus_read_replica_lag_seconds', "How old a read replica's data is.", ({ position }) =>
    position === undefined ? undefined : ageOf(position),
  );
  const reads = metrics.counter(
    'recordbus_read_replica_reads_total',
    'Reads that read replicas may serve, by where they ran and why.',
    ['result'],
  );
  return {
    wasRead: () => reads.inc({ result: 'replica' }),
    wasBehind: () => reads.inc({ result: 'behind' }),
    hasFailed: (isBehind) => reads.inc({ result: isBehind ? 'behind' : 'failed' }),
  };
}
