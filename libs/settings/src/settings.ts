import type { Bus } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { followedCopy } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { type Metrics, sampledGauge } from '@recordbus/process/metrics';
import { type EffectiveSettings, effectiveSettings } from './effective-settings.ts';
import { type FamilyKey, type FamilyValue, findNamedKey, namedKey, settingFamilies } from './registry/families.ts';
import type { SettingKey, SettingValue } from './registry/index.ts';
import { readSettings, readSettingsVersion } from './store.ts';

/** The current settings, in memory. They follow a change within a second, without the bus within 5 s (settings §2). */
export interface Settings {
  /** Loads them; throws when the database does not answer. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A setting's value, typed by its declaration. Throws before `start`. */
  get<K extends SettingKey>(key: K): SettingValue<K>;
  /** The value of a setting in a family. Throws before `start`. */
  getNamed<F extends FamilyKey>(family: F, name: string): FamilyValue<F>;
  /** The sorted names for which a family's setting is stored. */
  namesOf(family: FamilyKey): readonly string[];
  /** Whether a secret cannot be decrypted: it reads as empty but is not unset. Deny what it protects. */
  isUnreadable(key: SettingKey): boolean;
  /** Every setting's text, defaults and decrypted secrets included, and those of stored settings in families. */
  all(): Record<SettingKey, string> & Record<string, string>;
  /** Calls the listener with the changed keys, after `get` returns the new values. Returns a function that unsubscribes. */
  onChange(listener: (changed: ReadonlySet<string>) => void): () => void;
  /** Reads every change committed before the call. Throws when the database does not answer. */
  refresh(): Promise<void>;
}

type StoredSettings = EffectiveSettings & { readonly version: number };

export interface SettingsDeps {
  readonly database: Pick<Database, 'read'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
  readonly cipher: ValueCipher;
  readonly metrics?: Metrics;
  /** How often a replica polls, in milliseconds. */
  readonly pollIntervalMs?: number;
}

/** Creates the settings copy. The last copy stays in use while the database is down. */
export function createSettings({ database, bus, log, cipher, metrics, pollIntervalMs = 5000 }: SettingsDeps): Settings {
  const warnedKeys = new Set<string>();
  const copy = followedCopy<StoredSettings>({
    name: 'the settings',
    log,
    pollMs: pollIntervalMs,
    onNotice: (listener) => bus.onNotice('settings', listener),
    async read(before) {
      if (before && (await readSettingsVersion(database.read)) === before.version) return before;
      const { version, texts } = await readSettings(database.read);
      const read = { version, ...effectiveSettings(texts, cipher) };
      warnOnce(read);
      return read;
    },
  });

  if (metrics)
    sampledGauge(metrics, {
      name: 'recordbus_settings_version',
      help: 'Version of the settings in use.',
      sample: () => copy.current.version,
    });

  function warnOnce({ unreadable, invalid }: EffectiveSettings): void {
    for (const key of [...unreadable, ...invalid]) {
      if (warnedKeys.has(key)) continue;
      warnedKeys.add(key);
      if (unreadable.has(key))
        log.warn(
          { key },
          'cannot decrypt a secret setting, it reads as empty: SERVICE_ENCRYPTION_KEY is missing or another key',
        );
      else log.warn({ key }, 'a stored setting is invalid; its default applies');
    }
  }

  return {
    start: copy.start,
    stop: copy.stop,
    get: (key) => copy.current.values[key] as SettingValue<typeof key>,
    getNamed: (family, name) =>
      (copy.current.values[namedKey(family, name)] ?? settingFamilies[family].defaultValue) as FamilyValue<
        typeof family
      >,
    namesOf: (family) => namesIn(copy.current.texts, family),
    isUnreadable: (key) => copy.current.unreadable.has(key),
    all: () => ({ ...copy.current.texts }),
    onChange: (listener) =>
      copy.onChange((after, before) => {
        const changed = changedKeys(before, after);
        if (changed.size > 0) listener(changed);
      }),
    refresh: copy.refresh,
  };
}

/** Returns the keys whose text or readability differs. */
function changedKeys(before: EffectiveSettings, after: EffectiveSettings): ReadonlySet<string> {
  const isSame = (key: string) =>
    before.texts[key] === after.texts[key] && before.unreadable.has(key) === after.unreadable.has(key);
  const keys = new Set([...Object.keys(before.texts), ...Object.keys(after.texts)]);
  return new Set([...keys].filter((key) => !isSame(key)));
}

/** Returns the sorted names in a family's keys. */
export const namesIn = (texts: Readonly<Record<string, string>>, family: FamilyKey): string[] =>
  Object.keys(texts)
    .flatMap((key) => {
      const found = findNamedKey(key);
      return found?.family === family ? [found.name] : [];
    })
    .sort();
