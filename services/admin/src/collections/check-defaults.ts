import type { Query } from '@recordbus/database';
import { type Collection, type Field, findFixedDefault, type Problems, tableOf } from '@recordbus/schema';

/**
 * Adds to `problems` each relation whose default names a record that does not exist. A default that the field had before
 * is not checked again, because its record may be gone. `before` describes the current table; undefined for a new
 * collection.
 */
export async function checkDefaults(
  query: Query,
  before: Collection | undefined,
  after: Collection,
  problems: Problems,
): Promise<void> {
  for (const field of after.fields) {
    const ids = defaultTargetsOf(field);
    const former = before?.fields.find(({ id }) => id === field.id);
    if (ids.length === 0 || (former && `${defaultTargetsOf(former)}` === `${ids}`)) continue;
    if (!(await areRecords(query, tableOfTarget(field, before, after), ids)))
      problems.add(`fields.${field.name}.options.default`, 'refers to no record');
  }
}

/** The record ids that a relation's default names. */
function defaultTargetsOf(field: Field): readonly string[] {
  const value = field.type === 'relation' ? findFixedDefault(field) : undefined;
  return [value].flat().filter((id) => typeof id === 'string');
}

/** The target's current table; undefined for a collection that does not exist yet. */
function tableOfTarget({ collection = '' }: Field, before: Collection | undefined, after: Collection) {
  if (collection !== after.name) return tableOf({ name: collection });
  return before && tableOf(before);
}

async function areRecords(query: Query, table: string | undefined, ids: readonly string[]): Promise<boolean> {
  if (table === undefined) return false;
  const [row] = await query<{ found: number }>({
    text: `select count(*)::integer as found from ${table} where id = any($1::text[])`,
    values: [ids],
  });
  return row?.found === ids.length;
}
