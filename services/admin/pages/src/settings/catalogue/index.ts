import type { SettingDescription, SettingGroup } from '@recordbus/client';
import { browsers, general, mail, mailTexts } from './general.ts';
import {
  appearance,
  backups,
  channels,
  files,
  limits,
  observability,
  pocketBase,
  push,
  webhooks,
} from './operation.ts';
import { oidcPart, providersSection } from './providers.ts';
import { item, type Part, type Section, type SettingText } from './section.ts';
import { passwords, sessions, signIn } from './sign-in.ts';

/** A setting, as the server describes it and as the pages say it. */
export interface ShownSetting extends SettingText {
  readonly setting: SettingDescription;
}

export interface ShownPart extends Omit<Part, 'settings'> {
  readonly settings: readonly ShownSetting[];
}

export interface ShownSection extends Omit<Section, 'parts'> {
  readonly parts: readonly ShownPart[];
}

/** The pages, by task. What is changed first comes first. */
export const sections: readonly Section[] = [
  general,
  mail,
  mailTexts,
  signIn,
  providersSection,
  passwords,
  sessions,
  limits,
  browsers,
  files,
  backups,
  webhooks,
  channels,
  push,
  pocketBase,
  observability,
  appearance,
];

/** The page for settings that the catalogue lacks. */
const otherName = 'Other';

const oidcFamily = 'oauth2.providers.oidc.<name>.';
/** What stands at the end of a family's key. */
const placeholder = /<(?:collection|lang)>$/;
const oidcName = /^oauth2\.providers\.oidc\.([a-z0-9_-]{1,32})\./;

/** Returns the pages with the settings that the server has. A setting that no page names is in the page "Other". */
export function sectionsOf(groups: readonly SettingGroup[]): readonly ShownSection[] {
  const left = new Map(groups.flatMap(({ settings }) => settings.map((setting) => [setting.key, setting] as const)));
  const take = (text: SettingText): ShownSetting[] => {
    const prefix = text.key.replace(placeholder, '');
    const keys = prefix === text.key ? [text.key] : [...left.keys()].filter((key) => key.startsWith(prefix));
    return keys.flatMap((key) => {
      const setting = left.get(key);
      left.delete(key);
      const label = text.label.replace(placeholder, key.slice(prefix.length));
      return setting ? [{ ...text, key, label, setting }] : [];
    });
  };
  const shown = sections.map((section) => ({
    ...section,
    parts: partsOf(section, left).map((part) => ({ ...part, settings: part.settings.flatMap(take) })),
  }));
  const others = [...left.values()].flatMap(({ key, about }) => take(item(key, key, about)));
  const other = { name: otherName, about: 'Settings without a page of their own.', parts: [{ settings: others }] };
  return [...shown, other]
    .map((section) => ({ ...section, parts: section.parts.filter(({ settings }) => settings.length > 0) }))
    .filter(({ parts }) => parts.length > 0);
}

/** Returns a page's parts. The page with providers also has one for each OpenID provider with a name. */
function partsOf(section: Section, known: ReadonlyMap<string, unknown>): readonly Part[] {
  if (section !== providersSection) return section.parts;
  const names = new Set([...known.keys()].flatMap((key) => oidcName.exec(key)?.[1] ?? []));
  return [...section.parts.slice(0, -1), ...[...names].map(oidcPart), ...section.parts.slice(-1)];
}

/** Returns the part for an OpenID provider that has no settings yet. */
export function newOidcPart(name: string, groups: readonly SettingGroup[]): ShownPart {
  const families = groups.flatMap((group) => group.families).filter(({ key }) => key.startsWith(oidcFamily));
  const part = oidcPart(name);
  const settings = part.settings.flatMap((text) => {
    const family = families.find(({ key }) => key.replace('<name>', name) === text.key);
    if (!family) return [];
    const isSecret = family.key.endsWith('secret');
    const setting = { ...family, key: text.key, default: '', is_secret: isSecret, is_set: false, value: '' };
    return [{ ...text, setting }];
  });
  return { ...part, settings };
}

/** Returns the groups with the texts of languages that no mail has yet. */
export function withLanguages(groups: readonly SettingGroup[], languages: readonly string[]): readonly SettingGroup[] {
  return groups.map((group) => {
    const known = new Set(group.settings.map(({ key }) => key));
    const added = languages.flatMap((language) =>
      group.families
        .filter(({ key }) => key.endsWith('<lang>'))
        .map((family) => ({ ...family, key: family.key.replace('<lang>', language) }))
        .filter(({ key }) => !known.has(key))
        .map((one) => ({ ...one, default: '', is_secret: false, is_set: false, value: '' })),
    );
    return added.length === 0 ? group : { ...group, settings: [...group.settings, ...added] };
  });
}

/** Whether a setting matches a search. */
export const isFound = ({ key, label, about }: SettingText, search: string): boolean =>
  `${label} ${about} ${key}`.toLowerCase().includes(search.trim().toLowerCase());
