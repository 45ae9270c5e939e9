import type { JsonSchema } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import { componentsOf, referTo } from './shown-collection.ts';

/** The schemas for the members in `expand`, by name. */
export type Expansions = Readonly<Record<string, JsonSchema>>;

const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

/** The schema for an expanded back-relation: a list, or with `total:1` an object (records §10.5). */
const referrersOf = (record: JsonSchema): JsonSchema => ({
  anyOf: [
    listOf(record),
    {
      type: 'object',
      description: 'with `total:1`',
      properties: { items: listOf(record), total: { type: 'integer' } },
      required: ['items', 'total'],
    },
  ],
});

/** Returns the expansions for a collection's records, among the collections that the caller may view. */
export function describeExpansions(viewable: readonly Collection[]): (collection: Collection) => Expansions {
  const recordOf = new Map(viewable.map((collection) => [collection.name, referTo(componentsOf(collection).record)]));
  const referrers = new Map<string, [name: string, record: JsonSchema][]>();
  for (const collection of viewable) {
    if (collection.type === 'view') continue;
    const record = referTo(componentsOf(collection).record);
    for (const { name, collection: target } of collection.fields) {
      if (target === undefined) continue;
      const known = referrers.get(target) ?? [];
      known.push([`${collection.name}_via_${name}`, record]);
      referrers.set(target, known);
    }
  }
  return ({ name: target, fields }) => {
    const relations = fields.flatMap(({ name, collection = '', options }) => {
      const record = recordOf.get(collection);
      return record ? [[name, options.multiple ? listOf(record) : record] as const] : [];
    });
    const names = new Set(fields.map(({ name }) => name));
    const back = (referrers.get(target) ?? [])
      .filter(([name]) => !names.has(name))
      .map(([name, record]) => [name, referrersOf(record)] as const);
    return Object.fromEntries([...relations, ...back]);
  };
}
