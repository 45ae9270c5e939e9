import type { Callers } from '@recordbus/live';

/** Callers with the same values, which share one row of a statement. */
export interface DistinctCallers {
  /** The values of each row. */
  readonly rows: readonly (readonly unknown[])[];
  /** The positions of the callers of rows, by the numbers in a statement, from 1 and separated by commas. */
  positionsOf(numbers: string): number[];
}

/** Finds the different values of callers. */
export function distinctCallers(callers: readonly (readonly unknown[])[]): DistinctCallers {
  const rows: (readonly unknown[])[] = [];
  const positions: number[][] = [];
  const known = new Map<unknown, number>();
  for (const [position, values] of callers.entries()) {
    const key = values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(values);
    const row = known.get(key);
    if (row !== undefined) positions[row]?.push(position);
    else {
      known.set(key, rows.length);
      rows.push(values);
      positions.push([position]);
    }
  }
  return {
    rows,
    positionsOf: (numbers) => numbers.split(',').flatMap((number) => positions[Number(number) - 1] ?? []),
  };
}

/** Adds callers to a list, which it may change. Returns the list. */
export function addCallers(list: number[] | 'all', callers: Callers): number[] | 'all' {
  if (list === 'all' || callers === 'all') return 'all';
  for (const caller of callers) list.push(caller);
  return list;
}
