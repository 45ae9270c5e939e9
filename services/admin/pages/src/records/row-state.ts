import type { AnyRecord } from '../api/records.ts';
import type { LiveRows } from './live-rows.svelte.ts';

/** A grid row, with its changes since the page was read. */
export interface ShownRow {
  readonly record: AnyRecord;
  readonly state: 'same' | 'changed' | 'gone';
}

const secondOf = (record: AnyRecord): number => Number(record.updated ?? 0);

/** Whether a newer state differs from a record in the members that were read. */
const differs = (record: AnyRecord, newer: AnyRecord): boolean =>
  Object.keys(record).some((name) => name !== 'expand' && JSON.stringify(record[name]) !== JSON.stringify(newer[name]));

/** Returns a page's rows in order, each in its current state. */
export const shownRows = (page: readonly AnyRecord[], live: Pick<LiveRows, 'changed' | 'gone'>): readonly ShownRow[] =>
  page.map((record) => {
    if (live.gone.has(record.id)) return { record, state: 'gone' };
    const newer = live.changed.get(record.id);
    // Ignore a message that is older than the page.
    return newer && secondOf(newer) >= secondOf(record) && differs(record, newer)
      ? { record: { ...record, ...newer }, state: 'changed' }
      : { record, state: 'same' };
  });
