import type { Consistency } from '@recordbus/request/consistency';
import type { Statement } from '../statement.ts';

/** A position in the primary's log. Everything before it has been committed or lost. */
export interface Position {
  /** The number of the primary's history. A failover increases it. */
  readonly timeline: number;
  /** Bytes since the first record. */
  readonly lsn: number;
}

const timeline = "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer";

/**
 * The end of the primary's log, after all commits that were answered before the query. It is the end of inserted
 * records, because a commit that did not wait for the disk may not be written yet.
 */
export const primaryPosition: Statement = {
  name: 'database.primary_position',
  text: `select ${timeline} as timeline, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as lsn`,
  values: [],
};

/** Writes the primary's timeline into a table. A replica that lacks the row follows another server. */
export const markTimeline: Statement = {
  text: `insert into system.timelines (timeline) values (${timeline}) on conflict do nothing`,
  values: [],
};

/** Returns the later of two positions. */
export const laterPosition = (a: Position, b: Position): Position =>
  a.timeline > b.timeline || (a.timeline === b.timeline && a.lsn >= b.lsn) ? a : b;

const [timelineDigits, lsnDigits] = [8, 16];

/** Writes a position for clients. A later position has a greater text. */
export const consistencyOf = ({ timeline, lsn }: Position): Consistency =>
  `${timeline.toString(16).padStart(timelineDigits, '0')}-${lsn.toString(16).padStart(lsnDigits, '0')}`;

/** Parses a client's text; undefined for a text that names no position. */
export function positionOf(text: Consistency): Position | undefined {
  const [, timelineText, lsnText] = /^([0-9a-f]{8})-([0-9a-f]{16})$/.exec(text) ?? [];
  if (timelineText === undefined || lsnText === undefined) return undefined;
  const position = { timeline: Number.parseInt(timelineText, 16), lsn: Number.parseInt(lsnText, 16) };
  return Number.isSafeInteger(position.lsn) && position.timeline < 2 ** 31 ? position : undefined;
}
