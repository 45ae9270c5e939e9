import type { SettingKey, Settings } from '@recordbus/settings';

/**
 * Returns a getter for a value computed from settings. The value is computed at its first use, since settings are
 * loaded when the gateway starts, and again after one of the keys has changed.
 */
export function followSettings<T>(settings: Settings, keys: readonly SettingKey[], make: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  settings.onChange((changed) => {
    if (keys.some((key) => changed.has(key))) cached = undefined;
  });
  return () => {
    cached ??= { value: make() };
    return cached.value;
  };
}
