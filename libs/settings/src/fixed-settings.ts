import { createEnvelope } from '@recordbus/crypto';
import { effectiveSettings } from './effective-settings.ts';
import type { SettingKey } from './registry/index.ts';
import type { Settings } from './settings.ts';

/** Settings without a database behind them, for tests: the real defaults and schemas, and the given texts. */
export function fixedSettings(given: Partial<Record<SettingKey, string>> = {}): FixedSettings {
  const texts = new Map(Object.entries(given));
  const listeners = new Set<(changed: ReadonlySet<SettingKey>) => void>();
  const read = () => effectiveSettings(texts, createEnvelope(undefined));
  let current = read();
  return {
    start: async () => {},
    stop: async () => {},
    get: (key) => current.values[key] as never,
    isUnreadable: (key) => current.unreadable.has(key),
    all: () => ({ ...current.texts }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh: async () => {},
    change(key, text) {
      texts.set(key, text);
      current = read();
      for (const listener of listeners) listener(new Set([key]));
    },
  };
}

/** Settings that a test changes by hand. */
interface FixedSettings extends Settings {
  change(key: SettingKey, text: string): void;
}
