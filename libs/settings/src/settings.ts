import type { Bus } from '@recordbus/bus';
import type { Envelope } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import { createRefresh } from '@recordbus/shared/refresh';
import { type EffectiveSettings, effectiveSettings } from './effective-settings.ts';
import { type SettingKey, type SettingValue, settingKeys } from './registry/index.ts';
import { readSettings, readSettingsVersion } from './store.ts';

/** The settings as they count now, in memory; followed within a second of a change, within 5 s without the bus. */
export interface Settings {
  /** Loads them; throws when the database does not answer. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The value of a setting, typed by its declaration. Throws before `start`. */
  get<K extends SettingKey>(key: K): SettingValue<K>;
  /** True for a secret that can't be opened: it reads as empty, but is not unset. Whatever it guards stays closed. */
  isUnreadable(key: SettingKey): boolean;
  /** The text of every setting, defaults included, secrets opened. */
  all(): Record<SettingKey, string>;
  /** Calls back with the keys whose text changed, after `get` gives the new values. Gives a function that ends it. */
  onChange(listener: (changed: ReadonlySet<SettingKey>) => void): () => void;
  /** Resolves when everything that was committed before the call counts here; throws when the database does not answer. */
  refresh(): Promise<void>;
}

export interface SettingsDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
  readonly envelope: Envelope;
  /** How often a replica that heard nothing from the bus looks for itself, in milliseconds. */
  readonly pollIntervalMs?: number;
}

/** Makes the cache of the settings; it keeps its last copy while the database is away. */
export function createSettings({ database, bus, log, envelope, pollIntervalMs = 5000 }: SettingsDeps): Settings {
  let current: (EffectiveSettings & { readonly version: number }) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let endNotices = () => {};
  let isLate = false;
  const listeners = new Set<(changed: ReadonlySet<SettingKey>) => void>();
  const complainedOf = new Set<SettingKey>();
  const refresh = createRefresh(update);

  function loaded(): EffectiveSettings {
    if (!current) throw new Error('the settings were read before they were loaded');
    return current;
  }

  async function update(): Promise<void> {
    if (current && (await readSettingsVersion(database.read)) === current.version) return;
    const { version, texts } = await readSettings(database.read);
    const before = current;
    current = { version, ...effectiveSettings(texts, envelope) };
    complain(current);
    if (before) announce(before, current);
  }

  async function follow(): Promise<void> {
    try {
      await refresh.run();
      if (isLate) log.info('the settings are followed again');
      isLate = false;
    } catch (error) {
      if (!isLate) log.warn({ err: error }, 'the settings could not be read; their last copy stays in use');
      isLate = true;
    }
  }

  function announce(before: EffectiveSettings, after: EffectiveSettings): void {
    const isSame = (key: SettingKey) =>
      before.texts[key] === after.texts[key] && before.unreadable.has(key) === after.unreadable.has(key);
    const changed = new Set(settingKeys.filter((key) => !isSame(key)));
    if (changed.size === 0) return;
    for (const listener of listeners) {
      try {
        listener(changed);
      } catch (error) {
        log.error({ err: error }, 'a listener to the settings failed');
      }
    }
  }

  function complain({ unreadable, invalid }: EffectiveSettings): void {
    for (const key of [...unreadable, ...invalid]) {
      if (complainedOf.has(key)) continue;
      complainedOf.add(key);
      if (unreadable.has(key))
        log.warn(
          { key },
          'a secret setting reads as empty: SERVICE_ENCRYPTION_KEY is missing or not the one it was sealed with',
        );
      else log.warn({ key }, 'a stored setting is not valid; its default counts');
    }
  }

  return {
    async start() {
      await refresh.run();
      endNotices = bus.onNotice('settings', () => void follow());
      timer = setInterval(() => void follow(), pollIntervalMs);
    },
    async stop() {
      endNotices();
      clearInterval(timer);
      await refresh.idle();
    },
    get: (key) => loaded().values[key] as SettingValue<typeof key>,
    isUnreadable: (key) => loaded().unreadable.has(key),
    all: () => ({ ...loaded().texts }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh: refresh.run,
  };
}
