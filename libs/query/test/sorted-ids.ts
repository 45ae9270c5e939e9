import { type Situation, valueAt } from './evaluator.ts';
import type { SortTerm } from './sort-arbitrary.ts';

/** Record ids in sort order (filters §9). */
export function sortedIds(
  records: readonly Situation['record'][],
  terms: readonly SortTerm[],
  situation: Omit<Situation, 'record'>,
): string[] {
  const all = [...terms, { path: 'id', isDescending: terms.at(-1)?.isDescending ?? false }];
  const keyed = records.map((record) => ({
    id: String(record.id),
    keys: all.map(({ path }) => valueAt(path, { ...situation, record })),
  }));
  return keyed.sort((a, b) => compareKeys(a.keys, b.keys, all)).map(({ id }) => id);
}

function compareKeys(a: readonly unknown[], b: readonly unknown[], terms: readonly SortTerm[]): number {
  for (const [index, { isDescending }] of terms.entries()) {
    const order = compareValues(a[index], b[index]);
    if (order !== 0) return isDescending ? -order : order;
  }
  return 0;
}

/** Null sorts above every value. */
function compareValues(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b);
}
