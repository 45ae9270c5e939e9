import { createValueCipher } from '@recordbus/crypto';
import { effectiveSettings } from './effective-settings.ts';
import { namedKey, settingFamilies } from './registry/families.ts';
import { namesIn, type Settings } from './settings.ts';

/** Creates settings without a database, for tests: the real defaults and schemas, and the given texts. */
export function fixedSettings(given: Readonly<Record<string, string>> = {}): FixedSettings {
  const texts = new Map(Object.entries(given));
  const listeners = new Set<(changed: ReadonlySet<string>) => void>();
  const read = () => effectiveSettings(texts, createValueCipher(undefined));
  let current = read();
  return {
    start: async () => {},
    stop: async () => {},
    get: (key) => current.values[key] as never,
    getNamed: (family, name) =>
      (current.values[namedKey(family, name)] ?? settingFamilies[family].defaultValue) as never,
    namesOf: (family) => namesIn(current.texts, family),
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

/** Settings that a test changes directly. */
interface FixedSettings extends Settings {
  change(key: string, text: string): void;
}
