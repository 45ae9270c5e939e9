import type { LiveEvent } from './verdicts.ts';

/** How many UTF-16 code units one request's data may have, since services read whole bodies. */
const maxUnits = 4 * 2 ** 20;

/** Splits events into requests of moderate size, at least one. An event is at most about a mebibyte. */
export function splitBatch(events: readonly LiveEvent[]): LiveEvent[][] {
  const parts: LiveEvent[][] = [[]];
  let units = 0;
  for (const event of events) {
    const size = event.data?.length ?? 0;
    if (units > 0 && units + size > maxUnits) {
      parts.push([]);
      units = 0;
    }
    parts.at(-1)?.push(event);
    units += size;
  }
  return parts;
}
