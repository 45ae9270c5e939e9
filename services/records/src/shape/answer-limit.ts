import { answerTooLarge } from '@recordbus/database';

/** An answer's limit. */
export interface AnswerLimit {
  /** How many bytes the answer may have, as SQL. */
  readonly maxBytes: string;
  /** Whether the statement estimates its answer (see `composeEstimate`). */
  readonly isEstimated?: boolean;
}

/** The table expression with the estimate. */
export const estimateTable = 'estimate';

/** Answers up to this size cost less than their estimate. */
const estimatedFromBytes = 2 ** 20;

const estimate = `(select e.bytes from ${estimateTable} e)`;

/**
 * SQL for `text`. The statement fails when `bytes` is more than the limit, or when the whole answer's estimate is.
 * PostgreSQL computes the estimate when the first text needs it.
 */
export function withinLimit({ maxBytes, isEstimated }: AnswerLimit, bytes: string, text: string): string {
  const estimated = isEstimated
    ? ` when ${bytes} > ${estimatedFromBytes} and ${estimate} is not null then system.answer_too_large(${estimate})`
    : '';
  return `case when ${bytes} > ${maxBytes} then system.answer_too_large(${bytes})${estimated} else ${text} end`;
}

/**
 * SQL that joins a select's column `value` with commas; '' without rows. The bytes are summed row by row, so the
 * database never holds more than the limit, however many rows would follow.
 */
export const joinedWithinLimit = (select: string, limit: AnswerLimit): string => `coalesce((
  select string_agg(${withinLimit(limit, 'c.bytes', 'c.value')}, ',') from (
    select g.value, sum(octet_length(g.value)) over (rows unbounded preceding) as bytes from (${select} offset 0) g
  ) c
), '')`;

/** How many records a page may have whose bytes are summed only at its end: a record takes about a mebibyte at most. */
export const maxSummedAtEnd = 30;

/**
 * The same for at most `maxSummedAtEnd` records without expansions. The database holds all of them before it compares
 * their bytes, which for 20 small records takes 20 µs less than a sum row by row.
 */
export const joinedThenLimited = (select: string, limit: AnswerLimit): string => `coalesce((
  select ${withinLimit(limit, 'sum(octet_length(g.value))::bigint', "string_agg(g.value, ',')")} from (${select} offset 0) g
), '')`;

/** SQL for one text within an answer. */
export const limitedText = (text: string, limit: AnswerLimit): string =>
  `(select ${withinLimit(limit, 'octet_length(l.json)', 'l.json')} from (select ${text} as json offset 0) l)`;

/** How many bytes a UTF-16 code unit takes in UTF-8 at most. */
const bytesPerUnit = 3;

/** Throws 422 for a body larger than `maxBytes`. */
export function checkAnswerSize(body: string, maxBytes: number): void {
  if (body.length * bytesPerUnit > maxBytes && Buffer.byteLength(body) > maxBytes) throw answerTooLarge();
}
