import type { Cursor } from '@recordbus/database';
import { startSlice } from '@recordbus/limits/time-slice';
import type { FormatWriter } from '../formats/format-writer.ts';
import { partLength } from './export-limits.ts';

interface RecordSource {
  /** The first rows. */
  readonly first: readonly string[];
  readonly cursor: Pick<Cursor, 'next'>;
  /** Decrypts a record's JSON; undefined when nothing is encrypted. */
  readonly decrypt: ((json: string) => Promise<string>) | undefined;
}

/** Yields an export's texts. While the client reads one part, the next one is fetched, so at most two are in memory. */
export async function* writeRecords(
  { first, cursor, decrypt }: RecordSource,
  writer: FormatWriter,
): AsyncGenerator<string, void> {
  const slice = startSlice();
  let text = writer.start;
  for (let rows = first; rows.length > 0; ) {
    const next = cursor.next();
    // Awaited below, unless the export ends earlier.
    next.catch(() => {});
    for (const json of rows) {
      if (slice.isOver()) await slice.pause();
      text += writer.record(decrypt ? await decrypt(json) : json);
      if (text.length < partLength) continue;
      yield text;
      text = '';
    }
    rows = await next;
  }
  yield text + writer.end;
}
