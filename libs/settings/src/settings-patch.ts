import { isCiphertext } from '@recordbus/crypto';
import { z } from 'zod';
import { familyPatterns, findNamedKey, isSecretKey, settingFamilies } from './registry/families.ts';
import { isSettingKey, settingKeys, settingOf } from './registry/index.ts';
import type { Setting } from './registry/setting.ts';

/** The longest text that any setting has, in characters: a mail body or a list of rate rules. */
const maxTextLength = 200_000;

/** New setting texts by key. An empty text restores the default (settings §1.3). */
export type SettingsPatch = Readonly<Record<string, string>>;

/**
 * The body for PATCH /api/v1/admin/settings (settings §1.3). Each unknown key, value that is not a string and refused
 * value is an issue under its key.
 */
export const settingsPatch: z.ZodType<SettingsPatch> = z
  .record(z.string(), z.unknown())
  .transform((given, context): SettingsPatch => {
    const patch: Record<string, string> = {};
    for (const key of inDeclaredOrder(given)) {
      const text = given[key];
      if (text === undefined) continue;
      const declaration = findSetting(key);
      if (!declaration) context.addIssue({ code: 'unrecognized_keys', keys: [key], input: given });
      else if (typeof text !== 'string') addIssue(key, 'must be a string');
      else {
        const message = text === '' ? undefined : findTextProblem(key, declaration, text);
        if (message === undefined) patch[key] = text;
        else addIssue(key, message);
      }
    }
    return patch;

    function addIssue(key: string, message: string) {
      context.addIssue({ code: 'custom', path: [key], message, input: given[key] });
    }
  });

/** The body's JSON Schema. */
export const settingsPatchSchema = {
  type: 'object',
  properties: Object.fromEntries(
    settingKeys.map((key) => [key, { type: 'string', description: settingOf(key).about }]),
  ),
  patternProperties: Object.fromEntries(
    familyPatterns.map(([pattern, about]) => [pattern, { type: 'string', description: about }]),
  ),
  additionalProperties: false,
} as const;

/** Returns the keys in declaration order, family keys last. */
const inDeclaredOrder = (given: Readonly<Record<string, unknown>>): string[] => [
  ...settingKeys.filter((key) => Object.hasOwn(given, key)),
  ...Object.keys(given).filter((key) => !isSettingKey(key)),
];

/** A setting's default; empty for an unknown key. */
export const defaultTextOf = (key: string): string => findSetting(key)?.defaultText ?? '';

/** Whether the product writes the setting. */
export const isStateKey = (key: string): boolean => findSetting(key)?.isState === true;

function findSetting(key: string): Setting<unknown> | undefined {
  if (isSettingKey(key)) return settingOf(key);
  const named = findNamedKey(key);
  return named && settingFamilies[named.family];
}

function findTextProblem(key: string, { schema }: Setting<unknown>, text: string): string | undefined {
  if (text.length > maxTextLength) return `must have at most ${maxTextLength} characters`;
  if (text.includes('\0')) return 'must not contain control characters';
  // Without an encryption key it would be stored as is and read as ciphertext.
  if (isSecretKey(key) && isCiphertext(text)) return 'must not begin with enc:1:';
  const result = schema.safeParse(text);
  return result.success ? undefined : (result.error.issues[0]?.message ?? 'is not valid');
}
