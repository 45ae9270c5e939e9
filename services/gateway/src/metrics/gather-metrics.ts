import { type MetricFamily, type Metrics, mergeMetrics, readMetrics } from '@recordbus/process/metrics';
import type { ReplicaMetrics, Upstream } from '../upstream/upstream.ts';

/**
 * Merges the metrics from this process and every replica into one list; `recordbus_up` shows which replicas answered.
 * The gateway's timeout for its own requests bounds the wait for a replica that does not.
 */
export async function gatherMetrics(
  processMetrics: Metrics,
  upstreams: readonly Upstream[],
): Promise<readonly MetricFamily[]> {
  const [own, ...services] = await Promise.all([
    readMetrics(processMetrics),
    ...upstreams.map(async ({ name, metrics }) => (await metrics()).map((replica) => withUp(name, replica))),
  ]);
  return mergeMetrics([{ families: own }, ...services.flat()]);
}

const withUp = (service: string, { instance, families }: ReplicaMetrics) => ({
  instance,
  families: [
    {
      name: 'recordbus_up',
      help: '1 for a service replica that answered with its metrics, 0 for one that did not.',
      type: 'gauge' as const,
      isShared: false,
      samples: [{ name: 'recordbus_up', labels: { service }, value: families ? 1 : 0 }],
    },
    ...(families ?? []),
  ],
});
