import { createLease, type Database } from '@recordbus/database';
import { messageOf } from '@recordbus/errors';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { type PatchDeps, patchSettings, type Settings, type SettingsPatch } from '@recordbus/settings';
import { askReleaseHost } from './ask-release-host.ts';

/** Stores the latest release in the settings `update_check.*` (operation §7). It installs nothing. */
export interface UpdateChecker {
  start(): void;
  stop(): Promise<void>;
}

/** In milliseconds. */
interface Timing {
  /** From the start to the first check (operation §7). */
  readonly firstMs: number;
  readonly everyMs: number;
  /** How often a replica renews or requests the lease, which lasts three times as long. */
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

/** Longest stored error, in characters. */
const maxErrorLength = 1000;

/** Creates the background task. The replica with the lease checks; another one takes over when the lease expires. */
export function createUpdateChecker(deps: CheckerDeps): UpdateChecker {
  const { database, settings, log, timing = defaultTiming } = deps;
  const lease = createLease(database, { name: 'update check', lifetimeMs: timing.leaseMs * 3 });
  const checking = every({
    name: 'check for an update',
    log,
    level: 'debug',
    intervalMs: () => Math.min(timing.leaseMs, Math.max(0, nextAtMs - performance.now())),
    firstAfterMs: timing.firstMs,
    retryMs: timing.leaseMs,
    run: checkWhenDue,
  });
  let unsubscribe: () => unknown = () => {};
  let nextAtMs = 0;

  /** Checks when it is due and this replica holds the lease. */
  async function checkWhenDue(): Promise<number | undefined> {
    await lease.renew();
    if (!lease.held || !settings.get('update_check.enabled')) return timing.leaseMs;
    if (performance.now() < nextAtMs) return undefined;
    nextAtMs = performance.now() + timing.everyMs;
    await check(deps);
    return undefined;
  }

  return {
    start() {
      unsubscribe = settings.onChange((changed) => {
        if (changed.has('update_check.enabled')) checking.wake();
      });
      nextAtMs = performance.now() + timing.firstMs;
      checking.start();
    },
    async stop() {
      unsubscribe();
      await checking.stop();
      if (lease.held) await lease.release().catch(() => {});
    },
  };
}

/** Asks for the latest release and stores the answer or the error. */
async function check(deps: CheckerDeps): Promise<void> {
  const { settings, log, releaseUrl, clock } = deps;
  const known = settings.get('update_check.latest_version');
  try {
    const latest = await askReleaseHost(releaseUrl);
    const checkedAt = String(Math.floor(clock() / 1000));
    await store(deps, { latest_version: latest, checked_at: checkedAt, error: '' });
    if (latest !== known) log.info({ latest }, 'found a new release');
  } catch (error) {
    const message = messageOf(error);
    log.debug({ err: error }, 'cannot read the latest release');
    await store(deps, { error: message.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, maxErrorLength) });
  }
}

interface Found {
  readonly latest_version?: string;
  readonly checked_at?: string;
  readonly error: string;
}

/** Stores only changed settings, because every replica reloads the settings after a change. */
async function store(deps: CheckerDeps, found: Found): Promise<void> {
  const texts: Readonly<Record<string, string>> = deps.settings.all();
  const entries = Object.entries(found).map(([name, text]) => [`update_check.${name}`, text] as const);
  const patch: SettingsPatch = Object.fromEntries(entries.filter(([key, text]) => texts[key] !== text));
  await patchSettings(deps, patch);
}
