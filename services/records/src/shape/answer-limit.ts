import { answerTooLarge } from '@recordbus/database';

/** SQL for `text`. The statement fails when `bytes` is more than `maxBytes`. */
export const withinLimit = (maxBytes: string, bytes: string, text: string): string =>
  `case when ${bytes} > ${maxBytes} then system.answer_too_large(${bytes}) else ${text} end`;

/**
 * SQL that joins the column `json` of a select with commas; '' without rows. The bytes are summed row by row, so the
 * database never holds more than `maxBytes` (SQL), however many rows would follow.
 */
export const joinedWithinLimit = (select: string, maxBytes: string): string => `coalesce((
  select string_agg(${withinLimit(maxBytes, 'c.bytes', 'c.json')}, ',') from (
    select g.json, sum(octet_length(g.json)) over (rows unbounded preceding) as bytes from (${select} offset 0) g
  ) c
), '')`;

/** Most records of a page whose bytes are summed only at its end: a record takes about a mebibyte at most. */
export const maxSummedAtEnd = 30;

/**
 * The same for at most `maxSummedAtEnd` records without expansions. The database holds all of them before it compares
 * their bytes, which takes 20 µs less for 20 small records than a sum row by row.
 */
export const joinedThenLimited = (select: string, maxBytes: string): string => `coalesce((
  select ${withinLimit(maxBytes, 'sum(octet_length(g.json))::bigint', "string_agg(g.json, ',')")} from (${select} offset 0) g
), '')`;

/** SQL for one text that is part of an answer. */
export const limitedText = (text: string, maxBytes: string): string =>
  `(select ${withinLimit(maxBytes, 'octet_length(l.json)', 'l.json')} from (select ${text} as json offset 0) l)`;

/** Most bytes of a UTF-16 code unit in UTF-8. */
const bytesPerUnit = 3;

/** Throws 422 for a body of more than `maxBytes`. */
export function checkAnswerSize(body: string, maxBytes: number): void {
  if (body.length * bytesPerUnit > maxBytes && Buffer.byteLength(body) > maxBytes) throw answerTooLarge();
}
