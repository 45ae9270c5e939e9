import { constants, monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { Histogram } from 'prom-client';
import { measureTasks } from './measure-tasks.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { sampledCounter } from './sampled-counter.ts';
import { sampledGauge } from './sampled-gauge.ts';

/** How often the event loop's delay is sampled, in milliseconds. */
const delayResolutionMs = 100;
const nanosecondsPerSecond = 1e9;

/** The names for the kinds of garbage collection. */
const collectionKinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

/**
 * Creates a process's metrics: CPU, memory, event loop and garbage collection, with the names that dashboards for Node
 * expect, and its background tasks. The process's connections add theirs.
 */
export function createProcessMetrics(service: string): Metrics {
  const metrics = createMetrics(service);
  measureCpu(metrics);
  measureMemory(metrics);
  measureEventLoop(metrics);
  measureGarbage(metrics);
  measureTasks(metrics);
  return metrics;
}

function measureCpu(metrics: Metrics): void {
  sampledCounter(metrics, {
    name: 'process_cpu_seconds_total',
    help: 'Process CPU time, user and system, in seconds.',
    sample() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
  const startedAtSec = Date.now() / 1000 - process.uptime();
  sampledGauge(metrics, {
    name: 'process_start_time_seconds',
    help: 'When the process started, in unix seconds.',
    sample: () => startedAtSec,
  });
}

function measureMemory(metrics: Metrics): void {
  sampledGauge(metrics, {
    name: 'process_resident_memory_bytes',
    help: 'Resident process memory.',
    sample: () => process.memoryUsage.rss(),
  });
  sampledGauge(metrics, {
    name: 'nodejs_heap_size_used_bytes',
    help: 'Used JavaScript heap.',
    sample: () => process.memoryUsage().heapUsed,
  });
  sampledGauge(metrics, {
    name: 'nodejs_external_memory_bytes',
    help: 'Memory outside the heap that belongs to its objects, mostly buffers.',
    sample: () => process.memoryUsage().external,
  });
}

function measureEventLoop(metrics: Metrics): void {
  const delay = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delay.enable();
  sampledGauge(metrics, {
    name: 'nodejs_eventloop_lag_p99_seconds',
    help: 'Timer delay since the last read, 99th percentile.',
    sample: () => delay.percentile(99) / nanosecondsPerSecond,
  });
  sampledGauge(metrics, {
    name: 'nodejs_eventloop_lag_max_seconds',
    help: 'Timer delay since the last read, maximum.',
    sample() {
      const { max } = delay;
      delay.reset();
      return max / nanosecondsPerSecond;
    },
  });
}

function measureGarbage({ registry }: Metrics): void {
  const duration = new Histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Garbage collection duration.',
    labelNames: ['kind'],
    buckets: [0.001, 0.01, 0.1, 1],
    registers: [registry],
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) duration.observe({ kind: kindOf(entry) }, entry.duration / 1000);
  });
  observer.observe({ entryTypes: ['gc'] });
}

function kindOf(entry: PerformanceEntry): string {
  const detail = 'detail' in entry ? entry.detail : undefined;
  const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? Number(detail.kind) : undefined;
  return (kind !== undefined && collectionKinds[kind]) || 'other';
}
