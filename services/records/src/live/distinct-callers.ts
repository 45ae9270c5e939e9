import type { Callers } from '@recordbus/live';

/** Callers with the same values, which share one row in a statement. */
export interface DistinctCallers {
  /** Each row's values. */
  readonly rows: readonly (readonly unknown[])[];
  /** The rows whose values pass a test. */
  filter(keeps: (values: readonly unknown[]) => boolean): DistinctCallers;
  /** Which callers have these rows, by index. The rows are numbered from 1, and the numbers separated by commas. */
  positionsOf(numbers: string): number[];
}

/** Finds the callers' different values. */
export function distinctCallers(callers: readonly (readonly unknown[])[]): DistinctCallers {
  const distinct: Row[] = [];
  const known = new Map<unknown, Row>();
  for (const [position, values] of callers.entries()) {
    const key = values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(values);
    const row = known.get(key);
    if (row) row.positions.push(position);
    else {
      const added = { values, positions: [position] };
      distinct.push(added);
      known.set(key, added);
    }
  }
  return ofRows(distinct);
}

interface Row {
  readonly values: readonly unknown[];
  readonly positions: number[];
}

const ofRows = (distinct: readonly Row[]): DistinctCallers => ({
  rows: distinct.map(({ values }) => values),
  filter: (keeps) => ofRows(distinct.filter(({ values }) => keeps(values))),
  positionsOf: (numbers) => numbers.split(',').flatMap((number) => distinct[Number(number) - 1]?.positions ?? []),
});

/** Adds callers to a list, which it may change. Returns the list. */
export function addCallers(list: number[] | 'all', callers: Callers): number[] | 'all' {
  if (list === 'all' || callers === 'all') return 'all';
  for (const caller of callers) list.push(caller);
  return list;
}
