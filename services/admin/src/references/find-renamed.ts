import type { Collection, Field } from '@recordbus/schema';

/** The new names, by the collections and fields from before the change. */
export type Renamed = ReadonlyMap<Collection | Field, string>;

/** Finds the new names that a change gives to a collection and its fields. The id identifies a field. */
export function findRenamed(before: Collection, after: Pick<Collection, 'name' | 'fields'>): Renamed {
  const fields = before.fields.flatMap((field): [Field, string][] => {
    const name = after.fields.find(({ id }) => id === field.id)?.name;
    return name === undefined || name === field.name ? [] : [[field, name]];
  });
  return new Map<Collection | Field, string>([
    ...fields,
    ...(before.name === after.name ? [] : [[before, after.name] as const]),
  ]);
}
