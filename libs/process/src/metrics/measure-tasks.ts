import { healthOfTasks } from '../background/index.ts';
import type { Metrics } from './metrics.ts';
import { sampledGauges } from './sampled-gauge.ts';

/** Adds the health metrics for this process's background tasks. */
export function measureTasks(metrics: Metrics): void {
  sampledGauges(metrics, {
    name: 'recordbus_task_failures',
    help: "A background task's failed runs since the last one that succeeded.",
    label: 'task',
    sample: () => new Map([...healthOfTasks()].map(([name, { failures }]) => [name, failures])),
  });
  sampledGauges(metrics, {
    name: 'recordbus_task_last_success_time_seconds',
    help: 'When a background task last succeeded, in unix seconds.',
    label: 'task',
    sample() {
      const times = new Map<string, number>();
      for (const [name, { lastSuccessAtMs }] of healthOfTasks())
        if (lastSuccessAtMs !== undefined) times.set(name, lastSuccessAtMs / 1000);
      return times;
    },
  });
}
