import type { SortKey } from '@recordbus/query';
import type { CursorValues } from './cursor.ts';

/**
 * Returns conditions that together select the rows after a cursor in key order. No row meets two conditions, and an
 * index on the keys serves each as one range, so a page costs the same at any depth. `sqlOf` returns the cursor's value
 * for a key, as SQL. The text depends on which values are null.
 */
export function rangesAfter(
  keys: readonly SortKey[],
  values: CursorValues,
  sqlOf: (index: number) => string,
): readonly string[] {
  const isNull = (index: number) => values[index] === null;
  const equal = (key: SortKey, index: number) =>
    isNull(index) ? `${key.sql} is null` : `${key.sql} = ${sqlOf(index)}`;
  const within = (index: number, condition: string) => [...keys.slice(0, index).map(equal), condition].join(' and ');

  const isOneWay = keys.every(({ isDescending }) => isDescending === keys[0]?.isDescending);
  if (isOneWay && !values.includes(null)) {
    const [left, right] = [keys.map(({ sql }) => sql), keys.map((_, index) => sqlOf(index))];
    const isDescending = keys[0]?.isDescending === true;
    const behind = `(${left.join(', ')}) ${isDescending ? '<' : '>'} (${right.join(', ')})`;
    // Nulls are last in ascending order. A row comparison with them is null.
    const nulls = isDescending ? [] : keys.flatMap((key, index) => (key.canBeNull ? [within(index, nullOf(key))] : []));
    return [behind, ...nulls];
  }
  return keys.flatMap((key, index) =>
    behindOne(key, isNull(index) ? undefined : sqlOf(index)).map((condition) => within(index, condition)),
  );
}

/** The conditions for one key's values after a value; after null if it is undefined. */
function behindOne(key: SortKey, value: string | undefined): readonly string[] {
  if (key.isDescending) return [value === undefined ? `${key.sql} is not null` : `${key.sql} < ${value}`];
  if (value === undefined) return [];
  return [`${key.sql} > ${value}`, ...(key.canBeNull ? [nullOf(key)] : [])];
}

const nullOf = ({ sql }: SortKey): string => `${sql} is null`;
