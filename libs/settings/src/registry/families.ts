import { captchaFamilies } from './captcha.ts';
import { mailLanguageFamilies } from './email-templates.ts';
import { oidcProviderFamilies } from './oauth-providers.ts';
import { secondFactorFamilies } from './second-factors.ts';
import { isSecretEnding, type Setting } from './setting.ts';
import { signUpFamilies } from './sign-up.ts';
import { webhookOwnerFamilies } from './webhook-owners.ts';

/** Families: settings with one value for each name, by their key with a placeholder for the name. */
export const settingFamilies = {
  ...signUpFamilies,
  ...captchaFamilies,
  ...secondFactorFamilies,
  ...oidcProviderFamilies,
  ...webhookOwnerFamilies,
  ...mailLanguageFamilies,
};

type Families = typeof settingFamilies;
export type FamilyKey = keyof Families;
export type FamilyValue<F extends FamilyKey> = Families[F] extends Setting<infer T> ? T : never;

/** Patterns for the names that replace a placeholder. */
const names = {
  '<collection>': /^[A-Za-z][A-Za-z0-9_]{0,62}$/,
  '<name>': /^[a-z][a-z0-9_-]{0,31}$/,
  // A language, perhaps with a script and a region (BCP 47), in one way of writing.
  '<lang>': /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?$/,
} as const;

const placeholders = Object.keys(names) as (keyof typeof names)[];

/** A family's key, split into family and name. */
export interface NamedKey {
  readonly family: FamilyKey;
  readonly name: string;
}

interface KeyShape {
  readonly family: FamilyKey;
  readonly prefix: string;
  readonly suffix: string;
  readonly pattern: RegExp;
}

const shapes = (Object.keys(settingFamilies) as FamilyKey[]).map((family): KeyShape => {
  const placeholder = placeholders.find((one) => family.includes(one)) ?? '<name>';
  const [prefix = '', suffix = ''] = family.split(placeholder);
  return { family, prefix, suffix, pattern: names[placeholder] };
});

/** Returns a key's family and the name in it; undefined for any other key. */
export function findNamedKey(key: string): NamedKey | undefined {
  for (const { family, prefix, suffix, pattern } of shapes) {
    if (!key.startsWith(prefix) || !key.endsWith(suffix)) continue;
    const name = key.slice(prefix.length, key.length - suffix.length);
    if (pattern.test(name)) return { family, name };
  }
  return undefined;
}

/** Returns a family's key for a name. */
export const namedKey = (family: FamilyKey, name: string): string => family.replace(/<\w+>/, () => name);

/** The families whose names are collection names. */
export const collectionFamilies: readonly FamilyKey[] = shapes
  .map(({ family }) => family)
  .filter((family) => family.includes('<collection>'));

/** Escapes a key part for a pattern. Dots are its only special characters. */
const literal = (text: string): string => text.replaceAll('.', '\\.');

/** The key patterns in JSON Schema's form, with each setting's description. */
export const familyPatterns: readonly (readonly [pattern: string, about: string])[] = shapes.map(
  ({ family, prefix, suffix, pattern }) => [
    `^${literal(prefix)}${pattern.source.slice(1, -1)}${literal(suffix)}$`,
    settingFamilies[family].about,
  ],
);

/** Whether a key's value is encrypted when stored. The name in the key does not matter. */
export const isSecretKey = (key: string): boolean => isSecretEnding(findNamedKey(key)?.family ?? key);
