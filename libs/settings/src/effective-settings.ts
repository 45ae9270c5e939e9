import type { Envelope } from '@recordbus/crypto';
import { type SettingKey, settingKeys, settingOf } from './registry/index.ts';

/** What counts, made from what is stored. */
export interface EffectiveSettings {
  readonly texts: Readonly<Record<SettingKey, string>>;
  readonly values: Readonly<Record<SettingKey, unknown>>;
  /** Sealed with another key, or there is none now: they read as empty (interface §2.7, at-rest encryption). */
  readonly unreadable: ReadonlySet<SettingKey>;
  /** Stored by an older version or by hand, and refused by their schema: their default counts. */
  readonly invalid: ReadonlySet<SettingKey>;
}

/** Opens, checks and fills up the stored texts; keys that no setting has are left out. */
export function effectiveSettings(stored: ReadonlyMap<string, string>, envelope: Envelope): EffectiveSettings {
  const texts: Partial<Record<SettingKey, string>> = {};
  const values: Partial<Record<SettingKey, unknown>> = {};
  const unreadable = new Set<SettingKey>();
  const invalid = new Set<SettingKey>();
  for (const key of settingKeys) {
    const { schema, defaultText, defaultValue } = settingOf(key);
    texts[key] = defaultText;
    values[key] = defaultValue;
    const text = envelope.open(stored.get(key) ?? '');
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
    // A number may count for something else than what was stored (a floor, a window out of range): that is shown.
    texts[key] = typeof result.data === 'number' ? String(result.data) : text;
  }
  return {
    texts: texts as EffectiveSettings['texts'],
    values: values as EffectiveSettings['values'],
    unreadable,
    invalid,
  };
}
