import type { Query } from '@recordbus/database';
import type { Collection, CollectionIndex, CollectionType, TimeColumn } from './collection.ts';
import type { Field } from './field.ts';

interface CollectionRow {
  id: string;
  name: string;
  type: CollectionType;
  fields: Field[];
  view_query: string | null;
  list_rule: string | null;
  view_rule: string | null;
  create_rule: string | null;
  update_rule: string | null;
  delete_rule: string | null;
  history_enabled: boolean;
  lacking: TimeColumn[];
  indexes: CollectionIndex[];
  created_at: number;
  updated_at: number;
}

const loadAll = {
  name: 'load-collections',
  text: `select (select version from system.versions where name = 'schema') as version,
    coalesce((select json_agg(c order by c.id) from system.collections c), '[]') as collections`,
  values: [],
};

/** Reads all collections and their schema version in one snapshot. */
export async function loadCollections(query: Query): Promise<{ version: number; collections: Collection[] }> {
  const [row] = await query<{ version: number; collections: CollectionRow[] }>(loadAll);
  if (!row) throw new Error('the query for the collections returned no row');
  return { version: row.version, collections: row.collections.map(toCollection) };
}

const toCollection = (row: CollectionRow): Collection => ({
  id: row.id,
  name: row.name,
  type: row.type,
  fields: row.fields,
  viewQuery: row.view_query,
  rules: {
    list: row.list_rule,
    view: row.view_rule,
    create: row.create_rule,
    update: row.update_rule,
    delete: row.delete_rule,
  },
  historyEnabled: row.history_enabled,
  ...(row.lacking.length > 0 && { lacking: row.lacking }),
  ...(row.indexes.length > 0 && { indexes: row.indexes }),
  createdAtSec: row.created_at,
  updatedAtSec: row.updated_at,
});
