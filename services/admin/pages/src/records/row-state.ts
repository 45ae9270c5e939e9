import type { AnyRecord } from '../api/records.ts';
import type { LiveRows } from './live-rows.svelte.ts';

/** A row as a grid shows it: with what has happened since the page was read. */
export interface ShownRow {
  readonly record: AnyRecord;
  readonly state: 'same' | 'changed' | 'gone';
}

const secondOf = (record: AnyRecord): number => Number(record.updated ?? 0);

/** Returns the rows of a page in their places, each in its present state. */
export const shownRows = (page: readonly AnyRecord[], live: Pick<LiveRows, 'changed' | 'gone'>): readonly ShownRow[] =>
  page.map((record) => {
    if (live.gone.has(record.id)) return { record, state: 'gone' };
    const news = live.changed.get(record.id);
    // A message that is older than the page says nothing new.
    return news && secondOf(news) >= secondOf(record) && JSON.stringify(news) !== JSON.stringify(record)
      ? { record: { ...record, ...news }, state: 'changed' }
      : { record, state: 'same' };
  });

/** How many records came that the page does not show. */
export const freshCount = (page: readonly AnyRecord[], { fresh }: Pick<LiveRows, 'fresh'>): number => {
  const shown = page.filter(({ id }) => fresh.has(id)).length;
  return fresh.size - shown;
};
