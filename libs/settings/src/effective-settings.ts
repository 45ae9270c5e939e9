import type { ValueCipher } from '@recordbus/crypto';
import { findNamedKey, settingFamilies } from './registry/families.ts';
import { type SettingKey, settingKeys, settingOf } from './registry/index.ts';
import type { Setting } from './registry/setting.ts';

/** The effective settings, derived from the stored ones. */
export interface EffectiveSettings {
  /** The texts for every setting, and for stored settings in families. */
  readonly texts: Readonly<Record<SettingKey, string> & Record<string, string>>;
  readonly values: Readonly<Record<SettingKey, unknown> & Record<string, unknown>>;
  /** Secrets encrypted with another key than the current one; they read as empty (settings §4.3). */
  readonly unreadable: ReadonlySet<string>;
  /** Stored texts that their schema refuses, from an older version or written by hand; the default applies. */
  readonly invalid: ReadonlySet<string>;
}

/** Decrypts and validates the stored texts and adds defaults. Leaves out unknown keys. */
export function effectiveSettings(stored: ReadonlyMap<string, string>, cipher: ValueCipher): EffectiveSettings {
  const texts: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const unreadable = new Set<string>();
  const invalid = new Set<string>();
  for (const [key, { schema, defaultText, defaultValue }] of declarationsFor(stored)) {
    texts[key] = defaultText;
    values[key] = defaultValue;
    const text = cipher.decrypt(stored.get(key) ?? '');
    if (text === undefined) {
      unreadable.add(key);
      texts[key] = '';
    }
    if (!text) continue;
    const result = schema.safeParse(text);
    if (!result.success) {
      invalid.add(key);
      continue;
    }
    values[key] = result.data;
    // The schema may change a number (a floor, a window out of range); the effective number is shown.
    texts[key] = typeof result.data === 'number' ? String(result.data) : text;
  }
  return {
    texts: texts as EffectiveSettings['texts'],
    values: values as EffectiveSettings['values'],
    unreadable,
    invalid,
  };
}

/** Returns every setting with a fixed key, and the stored settings in families. */
function declarationsFor(stored: ReadonlyMap<string, string>): [key: string, declaration: Setting<unknown>][] {
  const named = [...stored.keys()].flatMap((key): [string, Setting<unknown>][] => {
    const found = findNamedKey(key);
    return found ? [[key, settingFamilies[found.family]]] : [];
  });
  return [...settingKeys.map((key): [string, Setting<unknown>] => [key, settingOf(key)]), ...named];
}
