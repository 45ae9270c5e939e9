import { createHash } from 'node:crypto';
import type { Query } from '@recordbus/database';

/** A window after a count: a row, timed by the database's clock. */
export interface CountedWindow {
  /** The total, including the new count. */
  readonly used: number;
  /** Time until it ends, in milliseconds. */
  readonly leftMs: number;
  /** When it ends. No two windows for a key end at the same time. */
  readonly endsAtMs: number;
}

interface Count {
  /** The window's name. */
  readonly key: string;
  readonly windowMs: number;
  readonly count: number;
}

const nowMs = '(extract(epoch from statement_timestamp()) * 1000)::bigint';
const usedNow = `case when w.ends_at_ms > ${nowMs} then w.used else 0 end`;

const add = (condition: { readonly onInsert: string; readonly onUpdate: string }): string => `
  insert into system.rate_windows as w (key, ends_at_ms, used)
  select $1, ${nowMs} + $2::bigint, $3::bigint ${condition.onInsert}
  on conflict (key) do update set
    used = excluded.used + ${usedNow},
    ends_at_ms = case when w.ends_at_ms > ${nowMs} then w.ends_at_ms else excluded.ends_at_ms end
  ${condition.onUpdate}
  returning used, ends_at_ms as "endsAtMs", ends_at_ms - ${nowMs} as "leftMs"`;

const always = add({ onInsert: '', onUpdate: '' });
const ifLeft = add({
  onInsert: 'where $3::bigint <= $4::bigint',
  onUpdate: `where excluded.used + ${usedNow} <= $4::bigint`,
});

/** Adds to a window, or begins one. */
export async function takeWindow(query: Query, { key, windowMs, count }: Count): Promise<CountedWindow> {
  const values = [hashOf(key), windowMs, count];
  const [window] = await query<CountedWindow>({ name: 'rate-window', text: always, values });
  if (!window) throw new Error('the shared counter returned no row');
  return window;
}

/**
 * Adds to a window if the total stays within `max`. Otherwise it adds nothing, and returns the unchanged window with
 * `isTaken` false.
 */
export async function takeIfLeft(
  query: Query,
  { key, windowMs, count, max }: Count & { readonly max: number },
): Promise<CountedWindow & { readonly isTaken: boolean }> {
  const id = hashOf(key);
  const values = [id, windowMs, count, max];
  const [taken] = await query<CountedWindow>({ name: 'rate-window.if-left', text: ifLeft, values });
  if (taken) return { ...taken, isTaken: true };
  const [window = { used: 0, leftMs: windowMs, endsAtMs: 0 }] = await query<CountedWindow>({
    name: 'rate-window.find',
    text: `select used, ends_at_ms as "endsAtMs", ends_at_ms - ${nowMs} as "leftMs"
from system.rate_windows where key = $1 and ends_at_ms > ${nowMs}`,
    values: [id],
  });
  return { ...window, isTaken: false };
}

/** Subtracts a count, unless its window has ended. */
export async function giveBack(
  query: Query,
  { key, count, endsAtMs }: Pick<Count, 'key' | 'count'> & Pick<CountedWindow, 'endsAtMs'>,
): Promise<void> {
  await query({
    name: 'rate-window.give-back',
    text: 'update system.rate_windows set used = greatest(0, used - $2::bigint) where key = $1 and ends_at_ms = $3::bigint',
    values: [hashOf(key), count, endsAtMs],
  });
}

/** A hash keeps the key short, however long a label is. */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('base64url');
