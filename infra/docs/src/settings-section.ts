import { isSecretKey, type Setting, settingGroups } from '@recordbus/settings';
import type { Section } from './section.ts';
import { code, table } from './table.ts';

/** Longer defaults are cut. */
const maxDefaultLength = 40;

/** Builds the tables of settings by subject, from the registry. */
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

/**
 * A text that only settings without restrictions accept. The refusals of the others say what they accept, if their
 * schemas do not.
 */
const refused = '\u0000';

function whatItTakes({ schema }: Setting<unknown>): string {
  if (schema.description !== undefined) return schema.description;
  const result = schema.safeParse(refused);
  return result.success ? 'any text' : (result.error.issues[0]?.message.replace(/^must (be )?/, '') ?? '');
}
