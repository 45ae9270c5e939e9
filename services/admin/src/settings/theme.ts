import { isSettingKey, type Settings, settingKeys } from '@recordbus/settings';

const prefix = 'theme.';

/** The theme colours' names: the setting keys without `theme.`. */
export const themeNames = settingKeys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));

/** Returns the theme's colours by name (settings §1.7). */
export function themeOf(settings: Settings): Record<string, string> {
  const texts = settings.all();
  return Object.fromEntries(
    themeNames.map((name) => {
      const key = `${prefix}${name}`;
      return [name, isSettingKey(key) ? texts[key] : ''];
    }),
  );
}
