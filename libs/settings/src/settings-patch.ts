import { isSealed } from '@recordbus/crypto';
import { z } from 'zod';
import { type SettingKey, settingKeys, settingOf } from './registry/index.ts';
import { isSecretKey, type Setting } from './registry/setting.ts';

/** Some settings and their new texts; an empty one goes back to the default. */
export type SettingsPatch = { readonly [K in SettingKey]?: string | undefined };

/**
 * The body of PATCH /api/v1/admin/settings (interface §4.3, contract §7): unknown keys, values that are no strings and
 * values that the setting refuses are an issue each, under their key.
 */
export const settingsPatch: z.ZodType<SettingsPatch> = z.strictObject(
  Object.fromEntries(settingKeys.map((key) => [key, storableText(key, settingOf(key)).optional()])),
);

function storableText(key: SettingKey, { schema, about }: Setting<unknown>) {
  return z
    .string('must be a string')
    .superRefine((text, context) => {
      const message = text === '' ? undefined : whyNotStorable(key, schema, text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .describe(about);
}

function whyNotStorable(key: SettingKey, schema: z.ZodType, text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain control characters';
  // Without an encryption key it would be stored as it is, and be taken for sealed when it is read.
  if (isSecretKey(key) && isSealed(text)) return 'must not begin with enc:1:';
  const result = schema.safeParse(text);
  return result.success ? undefined : (result.error.issues[0]?.message ?? 'is not valid');
}
