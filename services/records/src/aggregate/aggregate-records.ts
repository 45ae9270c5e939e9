import { isDatabaseError, sqlState } from '@recordbus/database';
import { AppError, malformedParameter } from '@recordbus/errors';
import type { NamedParameters } from '@recordbus/query';
import { type Collection, perCollection } from '@recordbus/schema';
import type { z } from 'zod';
import type { RecordReads } from '../read/record-reads.ts';
import type { Prepared } from '../record/prepared.ts';
import { callerKind } from '../rules/compile-rule.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { createShapeCache } from '../shape/shape-cache.ts';
import type { aggregateQuery } from './aggregate-query.ts';
import { type AggregateValues, composeAggregate } from './aggregate-sql.ts';
import { readAggregate } from './read-aggregate.ts';

interface Composed extends Prepared, Pick<NamedParameters<AggregateValues>, 'valuesFrom'> {}

const shapesOf = perCollection(() => createShapeCache<Composed>('aggregate'));

/**
 * Groups the records that the list rule and the filter admit, and computes values for each group (records §16). Throws
 * 400 for an invalid parameter, and 422 if it takes too long or a value is not a number.
 */
export async function aggregateRecords(
  reads: RecordReads,
  collection: Collection,
  query: z.output<typeof aggregateQuery>,
  ruleContext: RuleContext,
): Promise<string> {
  const { page, perPage, filter, having, sort } = query;
  const timeZone = readTimeZone(query.tz);
  const shape = readAggregate(query);
  const compose = () => composeAggregate(collection, { shape, filter, having, sort, timeZone }, ruleContext);
  const key = JSON.stringify([shape, filter, having, sort, timeZone, callerKind(ruleContext)]);
  const { valuesFrom, ...statement } = shapesOf(collection)(key, compose, false);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const given = { page, perPage, offset, maxBytes: reads.maxAnswerBytes() };
  const [row] = await reads
    .shaped<{ body: string }>({ ...statement, values: valuesFrom(given, ruleContext.request) })
    .catch(explainRefusal);
  if (!row) throw new Error('the aggregate statement returned no row');
  return row.body;
}

/**
 * Throws 422 for a computed value that no number holds, 400 for a time zone that only Node knows, and any
 * other error unchanged.
 */
function explainRefusal(error: unknown): never {
  if (isDatabaseError(error, sqlState.invalidParameterValue)) throw notATimeZone();
  if (!isDatabaseError(error, sqlState.numberOutOfRange)) throw error;
  throw new AppError(422, 'number_too_large', 'a computed value is too large or too small for a number', {
    cause: error,
  });
}

/** Returns a time zone's name. Throws 400 for any other text. */
function readTimeZone(tz: string | undefined): string | undefined {
  if (tz === undefined || tz === '' || tz === 'UTC') return undefined;
  // Offsets are not names, and have the opposite sign in PostgreSQL.
  if (!/^[A-Za-z]/.test(tz) || !isTimeZone(tz)) throw notATimeZone();
  return tz;
}

const notATimeZone = () => malformedParameter('tz', 'is not a time zone');

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
