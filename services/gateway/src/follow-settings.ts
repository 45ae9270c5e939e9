import type { SettingKey, Settings } from '@recordbus/settings';

/**
 * Something made from settings, made anew when one of its keys changes. Made at the first use, since settings are
 * loaded when the gateway starts.
 */
export function followSettings<T>(settings: Settings, keys: readonly SettingKey[], make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  settings.onChange((changed) => {
    if (keys.some((key) => changed.has(key))) made = undefined;
  });
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
