import type { Loss } from '@recordbus/pocketbase/values';
import { type LostValues, maxListed } from './report.ts';

/** Counts values that are not taken as they are. */
export interface Losses {
  /** The counter for a collection. */
  of(collection: string): (field: string, what: Loss, value: string) => void;
  list(): LostValues[];
  /** Counts nothing: rows that are read again. */
  readonly silent: Losses;
}

const sentences: Readonly<Record<Loss, string>> = {
  dangling: 'ids that no record has: dropped',
  unlisted: 'values that the field no longer lists: dropped',
  unreadable: 'values that cannot be read: kept as text, or empty',
  renamed_file: 'files with another name here, since the name is too long or has other characters',
  no_address: 'users without an address: they have a made-up one, and are not verified',
  slow_hash: 'passwords whose hash is too slow to check: the users need a reset',
};

/** Creates the counters of a run. */
export function createLosses(): Losses {
  const found = new Map<string, { collection: string; field: string; what: Loss; count: number; examples: string[] }>();
  const silent: Losses = {
    of: () => () => {},
    list: () => [],
    get silent() {
      return silent;
    },
  };
  return {
    silent,
    of: (collection) => (field, what, value) => {
      const key = `${collection} ${field} ${what}`;
      const lost = found.get(key) ?? { collection, field, what, count: 0, examples: [] };
      found.set(key, lost);
      lost.count += 1;
      if (lost.examples.length < maxListed) lost.examples.push(value.slice(0, 100));
    },
    list: () => [...found.values()].map((lost) => ({ ...lost, what: sentences[lost.what] })),
  };
}
