import { isSettingKey, type Settings, settingKeys } from '@recordbus/settings';

const prefix = 'theme.';

/** The names of the theme's colours: the settings' keys without `theme.`. */
export const themeNames = settingKeys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));

/** The colours as they count now, by name (interface §4.3, contract §7). */
export function themeOf(settings: Settings): Record<string, string> {
  const texts = settings.all();
  return Object.fromEntries(
    themeNames.map((name) => {
      const key = `${prefix}${name}`;
      return [name, isSettingKey(key) ? texts[key] : ''];
    }),
  );
}
