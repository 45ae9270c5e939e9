import { z } from 'zod';
import { setting, settingGroup } from './setting.ts';
import { commaList } from './text-schemas.ts';

const maxConsumers = 50;
const maxCharacters = 5000;

/** Durable consumer names in NATS: no dots, wildcards, slashes or white space. */
const consumerNames = z
  .string()
  .max(maxCharacters, `must have at most ${maxCharacters} characters`)
  .pipe(commaList)
  .refine((names) => names.length <= maxConsumers, `must name at most ${maxConsumers} consumers`)
  .refine(
    (names) => names.every((name) => /^[\w-]{1,128}$/.test(name)),
    'must be durable consumer names, separated by commas',
  )
  .describe('durable consumer names');

export const events = settingGroup('Events', ['records'], {
  'events.kept_for': setting(
    consumerNames,
    '',
    "Other systems' durable consumers whose unacknowledged events the stream keeps: publishing waits for them when the stream is full.",
  ),
});
