import { describedAs, flag } from '@recordbus/http';
import { z } from 'zod';
import { lastOfSecond, readVersion } from '../record/version.ts';

/** Clamps a time beyond any record's to one that bigint holds. */
const withinBigint = (text: string): number =>
  Math.min(Math.max(Number(text), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

const at = z
  .string()
  .regex(/^([+-]?\d+)?$/, 'must be a time in unix seconds')
  .transform((text) => (text === '' ? undefined : lastOfSecond(withinBigint(text))))
  .optional()
  .meta(describedAs({ type: 'integer', description: 'unix seconds: the last version in this second or before it' }));

const version = z
  .string()
  .transform((text, context) => {
    if (text === '') return undefined;
    const read = readVersion(text);
    if (!read) context.addIssue({ code: 'custom', message: "must be a history row's version" });
    return read;
  })
  .optional()
  .describe('exactly this version, as a history row names it; instead of at');

const deleted = flag.describe('create a deleted record again, with its id');

/** The version to restore, by either `at` or `version` (history §5.1). */
export const restoreQuery = z.object({ at, version, deleted }).transform(({ at, version, deleted }, context) => {
  const upTo = at ?? version;
  if (upTo && !(at && version)) return { upTo, isExact: version !== undefined, deleted };
  const message = at ? 'cannot be given with version' : 'is required, or version';
  context.addIssue({ code: 'custom', path: ['at'], message });
  return z.NEVER;
});
