import { isSecretKey, type Setting, settingGroups, whatItTakes } from '@recordbus/settings';
import type { Section } from './section.ts';
import { code, table } from './table.ts';

/** Longer defaults are cut. */
const maxDefaultLength = 40;

/** Builds the settings tables by subject, from the registry. */
export const settingsSection: Section = {
  page: 'settings.md',
  name: 'settings',
  text: () =>
    settingGroups
      .map(({ title, readBy, settings, families }) =>
        [
          `## ${title}`,
          `Read by ${readBy.join(', ')}.`,
          table(
            ['key', 'default', 'takes', 'meaning'],
            Object.entries<Setting<unknown>>({ ...settings, ...families }).map(([key, setting]) => [
              isSecretKey(key) ? `${code(key)} (secret)` : code(key),
              shorten(setting.defaultText),
              whatItTakes(setting),
              setting.about,
            ]),
          ),
        ].join('\n\n'),
      )
      .join('\n\n'),
};

const shorten = (text: string): string =>
  text === '' ? '' : code(text.length > maxDefaultLength ? `${text.slice(0, maxDefaultLength)}…` : text);
