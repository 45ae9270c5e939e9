import type { MetricFamily } from './read-metrics.ts';

/**
 * One process's metrics; `instance` distinguishes a service's replicas. The scraped process itself has none: Prometheus
 * adds its own label.
 */
interface InstanceMetrics {
  readonly instance?: string | undefined;
  readonly families: readonly MetricFamily[];
}

/**
 * Merges all services' and replicas' families into one sorted list, each name once. Samples get the label `instance`.
 * Shared samples, which every replica reads from the same source, become one without it: the largest.
 */
export function mergeMetrics(instances: readonly InstanceMetrics[]): MetricFamily[] {
  const merged = new Map<string, MetricFamily>();
  for (const { instance, families } of instances) {
    for (const { samples, ...family } of families) {
      const known = merged.get(family.name) ?? { ...family, samples: [] };
      // If two versions declare a name differently, the first one counts.
      if (known.type !== family.type) continue;
      merged.set(family.name, known);
      for (const sample of samples) {
        if (known.isShared) addLargest(known.samples, sample);
        else
          known.samples.push(instance === undefined ? sample : { ...sample, labels: { ...sample.labels, instance } });
      }
    }
  }
  return [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

type Sample = MetricFamily['samples'][number];

function addLargest(samples: Sample[], sample: Sample): void {
  const same = samples.find(({ name, labels }) => name === sample.name && isSame(labels, sample.labels));
  if (!same) samples.push({ ...sample });
  else same.value = Math.max(same.value, sample.value);
}

const isSame = (a: Sample['labels'], b: Sample['labels']): boolean => {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
};
