import type { Query } from '@recordbus/database';
import type {
  Collection,
  CollectionIndex,
  CollectionType,
  Durability,
  HistoryLimits,
  Retention,
  TimeColumn,
} from './collection.ts';
import type { Field } from './field.ts';

interface CollectionRow {
  id: string;
  name: string;
  alias: string | null;
  type: CollectionType;
  fields: Field[];
  view_query: string | null;
  list_rule: string | null;
  view_rule: string | null;
  create_rule: string | null;
  update_rule: string | null;
  delete_rule: string | null;
  sign_in_rule: string | null;
  webhook_rule: string | null;
  history_enabled: boolean;
  durability: Durability;
  fresh_s: number | null;
  retain: Retention | null;
  history_keep: HistoryLimits | null;
  lacking: TimeColumn[];
  indexes: CollectionIndex[];
  created_at: number;
  updated_at: number;
}

// One row for each collection: the driver parses rows one by one as they arrive, and never the whole schema at once.
const loadAll = {
  name: 'load-collections',
  text: `select versions.version, to_json(c) as collection from system.versions left join system.collections c on true
    where versions.name = 'schema' order by c.id`,
  values: [],
};

/** Reads all collections and their schema version in one snapshot. */
export async function loadCollections(query: Query): Promise<{ version: number; collections: Collection[] }> {
  const rows = await query<{ version: number; collection: CollectionRow | null }>(loadAll);
  const [first] = rows;
  if (!first) throw new Error('the query for the collections returned no row');
  return {
    version: first.version,
    collections: rows.flatMap(({ collection }) => (collection ? [toCollection(collection)] : [])),
  };
}

/** Reads one collection; undefined if there is none with the id. */
export async function loadCollection(query: Query, id: string): Promise<Collection | undefined> {
  const [row] = await query<{ collection: CollectionRow }>({
    name: 'load-collection',
    text: 'select to_json(c) as collection from system.collections c where id = $1',
    values: [id],
  });
  return row && toCollection(row.collection);
}

/**
 * Returns a function that reads all collections within one transaction. It reads again only collections that have
 * changed: a change moves a row to another place (`ctid`), and no other row takes the old place before the transaction
 * ends.
 */
export function followCollections(query: Query): () => Promise<Collection[]> {
  let known = new Map<string, Collection>();
  return async () => {
    const rows = await query<{ place: string; changed: CollectionRow | null }>({
      text: `select ctid::text as place, case when ctid::text = any($1::text[]) then null else to_json(c) end as changed
        from system.collections c order by id`,
      values: [[...known.keys()]],
    });
    const collections = rows.flatMap(({ place, changed }): [string, Collection][] => {
      const collection = changed ? toCollection(changed) : known.get(place);
      return collection ? [[place, collection]] : [];
    });
    known = new Map(collections);
    return [...known.values()];
  };
}

const toCollection = (row: CollectionRow): Collection => ({
  id: row.id,
  name: row.name,
  ...(row.alias !== null && { alias: row.alias }),
  type: row.type,
  fields: row.fields,
  viewQuery: row.view_query,
  rules: {
    list: row.list_rule,
    view: row.view_rule,
    create: row.create_rule,
    update: row.update_rule,
    delete: row.delete_rule,
    ...(row.sign_in_rule !== null && { sign_in: row.sign_in_rule }),
    ...(row.webhook_rule && { webhook: row.webhook_rule }),
  },
  historyEnabled: row.history_enabled,
  ...(row.durability === 'relaxed' && { durability: row.durability }),
  ...(row.fresh_s !== null && { freshSec: row.fresh_s }),
  ...(row.retain && { retain: row.retain }),
  ...(row.history_keep && { historyKeep: row.history_keep }),
  ...(row.lacking.length > 0 && { lacking: row.lacking }),
  ...(row.indexes.length > 0 && { indexes: row.indexes }),
  createdAtSec: row.created_at,
  updatedAtSec: row.updated_at,
});
