import { malformed } from '@recordbus/errors';
import { z } from 'zod';
import { boundedNumber, timeSec } from './query-values.ts';

const longestSec = 31 * 86_400;

/** A summary's query: a time range and its buckets (admins §7.4). */
export const spanQuery = z.object({
  since: timeSec.describe('from this second on, in unix seconds; an hour before `until` by default'),
  until: timeSec.describe('up to this second, in unix seconds; now by default'),
  buckets: boundedNumber({ min: 1, max: 240, otherwise: 60 }),
});

/** A time range in unix seconds, both ends included, in steps. */
export interface Span {
  readonly since: number;
  readonly until: number;
  readonly stepSec: number;
}

/** Returns a query's time range. Throws 400 if it is longer than 31 days, or ends before it begins. */
export function spanOf({ since, until = Math.floor(Date.now() / 1000), buckets }: z.output<typeof spanQuery>): Span {
  const from = since ?? Math.max(0, until - 3600);
  if (until < from) throw malformed('`until` is before `since`');
  if (until - from > longestSec) throw malformed('the span has more than 31 days');
  return { since: from, until, stepSec: Math.ceil((until - from + 1) / buckets) };
}
