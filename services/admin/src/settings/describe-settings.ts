import type { Collection } from '@recordbus/schema';
import {
  collectionFamilies,
  type FamilyKey,
  findNamedKey,
  isSecretKey,
  isStateKey,
  namedKey,
  type Setting,
  settingGroups,
  whatItTakes,
} from '@recordbus/settings';
import { z } from 'zod';

const settingDescription = z.object({
  key: z.string(),
  about: z.string(),
  takes: z.string().describe('the values that it accepts'),
  default: z.string(),
  is_secret: z.boolean(),
  is_set: z.boolean().describe('whether its value is other than the default'),
  value: z.string().nullable().describe('null for a secret'),
});

export const settingGroupDescription = z
  .object({
    title: z.string(),
    read_by: z.array(z.string()),
    settings: z.array(settingDescription),
    families: z.array(settingDescription.pick({ key: true, about: true, takes: true })),
  })
  .meta({ id: 'SettingGroup' });

type Described = z.output<typeof settingDescription>;

/**
 * Describes every setting by subject, with its value unless it is a secret. A collection's settings are listed for each
 * collection that they suit, a provider's for each configured provider, mails' texts for each language that has one.
 * Settings that the product writes are left out.
 */
export function describeSettings(
  values: Readonly<Record<string, string>>,
  collections: readonly Pick<Collection, 'name' | 'type'>[],
): z.output<typeof settingGroupDescription>[] {
  const describe = (key: string, setting: Setting<unknown>): Described => {
    const value = values[key] ?? setting.defaultText;
    const isSecret = isSecretKey(key);
    return {
      key,
      about: setting.about,
      takes: whatItTakes(setting),
      default: setting.defaultText,
      is_secret: isSecret,
      is_set: value !== setting.defaultText,
      value: isSecret ? null : value,
    };
  };
  return settingGroups.map(({ title, readBy, settings, families }) => ({
    title,
    read_by: [...readBy],
    settings: [
      ...Object.entries<Setting<unknown>>(settings)
        .filter(([key]) => !isStateKey(key))
        .map(([key, setting]) => describe(key, setting)),
      ...Object.entries<Setting<unknown>>(families).flatMap(([family, setting]) =>
        namesOf(family as FamilyKey, values, collections).map((name) =>
          describe(namedKey(family as FamilyKey, name), setting),
        ),
      ),
    ],
    families: Object.entries<Setting<unknown>>(families).map(([key, setting]) => ({
      key,
      about: setting.about,
      takes: whatItTakes(setting),
    })),
  }));
}

/** The names in a family's keys: the collections that it suits, or the providers or languages for which a setting is stored. */
function namesOf(
  family: FamilyKey,
  values: Readonly<Record<string, string>>,
  collections: readonly Pick<Collection, 'name' | 'type'>[],
): readonly string[] {
  if (collectionFamilies.includes(family))
    return collections.filter(({ type }) => suits(type, family)).map(({ name }) => name);
  const isOfLanguages = (one: FamilyKey) => one.endsWith('<lang>');
  const names = Object.keys(values).flatMap((key) => {
    const named = findNamedKey(key);
    const isAlike =
      named && !collectionFamilies.includes(named.family) && isOfLanguages(named.family) === isOfLanguages(family);
    return isAlike ? [named.name] : [];
  });
  return [...new Set(names)].sort();
}

/** Records of any table may own webhooks. The other families are about accounts. */
const suits = (type: Collection['type'], family: FamilyKey): boolean =>
  family === 'webhooks.owners.<collection>' ? type !== 'view' : type === 'auth';
