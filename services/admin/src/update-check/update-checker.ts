import { createLease, type Database } from '@recordbus/database';
import { type PatchDeps, patchSettings, type Settings, type SettingsPatch } from '@recordbus/settings';
import type { Logger } from '@recordbus/shared/logging';
import { createWakeup } from '@recordbus/shared/wakeup';
import { askReleaseHost } from './ask-release-host.ts';

/** Looks which release is the latest and keeps that in the settings `update_check.*` (interface §2.7). It updates nothing. */
export interface UpdateChecker {
  start(): void;
  stop(): Promise<void>;
}

/** In milliseconds. */
interface Timing {
  /** From the start to the first look (interface §8). */
  readonly firstMs: number;
  readonly everyMs: number;
  /** How often a replica asks whether the looking is its task; who holds that keeps it three times as long. */
  readonly leaseMs: number;
}

interface CheckerDeps extends PatchDeps {
  readonly database: Database;
  readonly settings: Settings;
  readonly log: Logger;
  readonly releaseUrl: string;
  /** The time in milliseconds. */
  readonly clock: () => number;
  readonly timing?: Timing;
}

const defaultTiming: Timing = { firstMs: 30_000, everyMs: 6 * 3_600_000, leaseMs: 120_000 };

/** Longest error that the settings keep, in characters. */
const maxErrorLength = 1000;

/** Makes it. Of all replicas the one that holds the lease looks; another one takes over when that is gone. */
export function createUpdateChecker(deps: CheckerDeps): UpdateChecker {
  const { database, settings, log, releaseUrl, clock, timing = defaultTiming } = deps;
  const lease = createLease(database, { name: 'update check', lifetimeMs: timing.leaseMs * 3 });
  const wakeup = createWakeup();
  let isEnding = false;
  let endChanges: () => unknown = () => {};
  let running = Promise.resolve();
  let nextAtMs = 0;

  async function check(): Promise<void> {
    const known = settings.get('update_check.latest_version');
    try {
      const latest = await askReleaseHost(releaseUrl);
      const checkedAt = String(Math.floor(clock() / 1000));
      await keep({ latest_version: latest, checked_at: checkedAt, error: '' });
      if (latest !== known) log.info({ latest }, 'the release host told of a release');
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.debug({ err: error }, 'the release host did not tell of a release');
      await keep({ error: message.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, maxErrorLength) });
    }
  }

  /** What is there already is not written again: every replica reads the settings anew when they change. */
  async function keep(found: { latest_version?: string; checked_at?: string; error: string }): Promise<void> {
    const texts: Readonly<Record<string, string>> = settings.all();
    const entries = Object.entries(found).map(([name, text]) => [`update_check.${name}`, text] as const);
    const patch: SettingsPatch = Object.fromEntries(entries.filter(([key, text]) => texts[key] !== text));
    await patchSettings(deps, patch);
  }

  /** Looks if it is time and this replica's task; gives the milliseconds until it should ask again. */
  async function round(): Promise<number> {
    try {
      await lease.renew();
      if (!lease.held || !settings.get('update_check.enabled')) return timing.leaseMs;
      if (performance.now() >= nextAtMs) {
        nextAtMs = performance.now() + timing.everyMs;
        await check();
      }
    } catch (error) {
      log.debug({ err: error }, 'the update check was put off');
    }
    return Math.min(timing.leaseMs, Math.max(0, nextAtMs - performance.now()));
  }

  async function run(): Promise<void> {
    nextAtMs = performance.now() + timing.firstMs;
    for (let restMs = timing.firstMs; ; restMs = await round()) {
      await wakeup.wait(restMs);
      wakeup.reset();
      if (isEnding) return;
    }
  }

  return {
    start() {
      endChanges = settings.onChange((changed) => {
        if (changed.has('update_check.enabled')) wakeup.wake();
      });
      running = run();
    },
    async stop() {
      isEnding = true;
      endChanges();
      wakeup.wake();
      await running;
      if (lease.held) await lease.release().catch(() => {});
    },
  };
}
