import type { AnyRecord } from '../api/records.ts';
import type { LiveRows } from './live-rows.svelte.ts';

/** A row as a grid shows it: with what has happened since the page was read. */
export interface ShownRow {
  readonly record: AnyRecord;
  readonly state: 'same' | 'changed' | 'gone';
}

const secondOf = (record: AnyRecord): number => Number(record.updated ?? 0);

/** Whether news say something else than a record, which may have been read with some of its members. */
const differs = (record: AnyRecord, news: AnyRecord): boolean =>
  Object.keys(record).some((name) => JSON.stringify(record[name]) !== JSON.stringify(news[name]));

/** Returns the rows of a page in their places, each in its present state. */
export const shownRows = (page: readonly AnyRecord[], live: Pick<LiveRows, 'changed' | 'gone'>): readonly ShownRow[] =>
  page.map((record) => {
    if (live.gone.has(record.id)) return { record, state: 'gone' };
    const news = live.changed.get(record.id);
    // A message that is older than the page says nothing new.
    return news && secondOf(news) >= secondOf(record) && differs(record, news)
      ? { record: { ...record, ...news }, state: 'changed' }
      : { record, state: 'same' };
  });
