import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { jsonText, settingObject } from './json-text.ts';
import { unsetSetting } from './setting.ts';
import { httpUrl } from './text-schemas.ts';

/** Where callers may have to solve a captcha (auth §10.1). */
const captchaDoors = ['register', 'otp', 'reset', 'login'] as const;
export type CaptchaDoor = (typeof captchaDoors)[number];

/** A collection's captcha (auth §10.1). */
export interface CaptchaSetting {
  readonly provider: 'altcha' | 'turnstile' | 'hcaptcha';
  /** The doors that ask for one. */
  readonly on: readonly CaptchaDoor[];
  /** The doors that stay open while the provider does not answer. */
  readonly open: readonly CaptchaDoor[];
  /** The sites whose captchas count; empty for all. */
  readonly hostnames: readonly string[];
  /** A service that verifies like the provider, in its place. */
  readonly verify_url?: string | undefined;
}

const doorNames = `must be a list from ${captchaDoors.join(', ')}`;
const doors = z
  .array(z.enum(captchaDoors, doorNames), doorNames)
  .max(captchaDoors.length, doorNames)
  .refine((list) => new Set(list).size === list.length, 'must not have a door twice');

const captcha = settingObject({
  provider: z.enum(['altcha', 'turnstile', 'hcaptcha'], 'must be altcha, turnstile or hcaptcha'),
  on: doors.min(1, doorNames),
  open: doors.default(['login']),
  hostnames: z
    .array(boundedText(253).toLowerCase(), 'must be a list of host names')
    .max(20, 'must have at most 20 host names')
    .default([]),
  verify_url: httpUrl.optional(),
}).refine(({ provider, verify_url }) => provider !== 'altcha' || verify_url === undefined, {
  path: ['verify_url'],
  error: 'must be left out with altcha, which asks nobody',
});

const secret = boundedText(512).regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters');

/** Captchas by collection of accounts (auth §10). */
export const captchaFamilies = {
  'auth.captcha.<collection>': unsetSetting<CaptchaSetting, undefined>(
    jsonText<CaptchaSetting>(captcha).describe('a JSON object {provider, on, open, hostnames, verify_url}'),
    undefined,
    'Asks for a captcha: JSON {provider: altcha, turnstile or hcaptcha, on: [register, otp, reset, login]}.',
  ),
  'auth.captcha.<collection>.secret': unsetSetting(secret, '', 'The secret key at Turnstile or hCaptcha.'),
} as const;
