import { client } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { type Metrics, readMetrics } from './metrics.ts';

/** The live charts' values at one time. */
export interface Sample {
  readonly atMs: number;
  readonly outbox: number | null;
  readonly streamLag: number | null;
  readonly unread: number | null;
  readonly pending: number | null;
  readonly live: number | null;
  readonly subscriptions: number | null;
  readonly open: number | null;
  /** Attempts per second since the sample before. */
  readonly answered: number | null;
  readonly failed: number | null;
}

/** Keeps samples for 15 minutes. */
const maxSamples = 180;
export const sampleMs = 5000;

/** The stack's recent metrics. They stay while the tab is open, and are read only while the page is visible. */
class Samples {
  list = $state.raw<readonly Sample[]>([]);
  metrics = $state.raw<Metrics>();
  problem = $state.raw<Problem>();
  #attempts: { atMs: number; good: number; all: number } | undefined;

  async take(): Promise<void> {
    try {
      const metrics = readMetrics(await client.admin.metrics());
      this.metrics = metrics;
      this.problem = undefined;
      this.list = [...this.list.slice(1 - maxSamples), this.#sampleOf(metrics)];
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  #sampleOf(metrics: Metrics): Sample {
    const value = (name: string): number | null => metrics.sum(name) ?? null;
    return {
      atMs: Date.now(),
      outbox: value('recordbus_outbox_waiting'),
      streamLag: value('recordbus_stream_lag'),
      unread: value('recordbus_stream_unread'),
      pending: value('recordbus_webhook_deliveries_pending'),
      live: value('recordbus_live_connections'),
      subscriptions: value('recordbus_live_subscriptions'),
      open: value('recordbus_open_connections'),
      ...this.#rates(metrics),
    };
  }

  #rates(metrics: Metrics): Pick<Sample, 'answered' | 'failed'> {
    const all = metrics.sum('recordbus_webhook_attempts_total') ?? 0;
    const now = {
      atMs: Date.now(),
      all,
      good: metrics.sum('recordbus_webhook_attempts_total', { result: 'success' }) ?? 0,
    };
    const before = this.#attempts;
    this.#attempts = now;
    // A restarted process counts from 0.
    if (!before || now.all < before.all || now.good < before.good) return { answered: null, failed: null };
    const seconds = Math.max(0.001, (now.atMs - before.atMs) / 1000);
    const good = now.good - before.good;
    return { answered: good / seconds, failed: (now.all - before.all - good) / seconds };
  }
}

export const samples = new Samples();
