import { z } from 'zod';
import type { Collection } from '../collection.ts';
import type { Field } from '../field.ts';

const rule = z.string().nullable();

/** A collection as the API shows it (interface §2.1). */
export const collectionJson = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(['base', 'auth', 'view']),
  fields: z.string().describe('JSON-encoded array of field definitions'),
  view_query: z.string().nullable(),
  list_rule: rule,
  view_rule: rule,
  create_rule: rule,
  update_rule: rule,
  delete_rule: rule,
  history_enabled: z.boolean(),
  created_at: z.int().describe('unix seconds'),
  updated_at: z.int().describe('unix seconds'),
});

/** The way out for collections: every answer that holds one holds this. */
export const presentCollection = (collection: Collection): z.output<typeof collectionJson> => ({
  id: collection.id,
  name: collection.name,
  type: collection.type,
  fields: JSON.stringify(collection.fields.map(presentField)),
  view_query: collection.viewQuery,
  list_rule: collection.rules.list,
  view_rule: collection.rules.view,
  create_rule: collection.rules.create,
  update_rule: collection.rules.update,
  delete_rule: collection.rules.delete,
  history_enabled: collection.historyEnabled,
  created_at: collection.createdAtSec,
  updated_at: collection.updatedAtSec,
});

const presentField = ({ id, name, type, required, system, options, collection }: Field) => {
  // The database keeps the members of an object in an order of its own; the text is the same before and after.
  const sorted = Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
  // Those of an autodate stand at the level of the field (interface §2.2).
  const placed = type === 'autodate' ? { ...sorted, options: {} } : { options: sorted };
  return { id, name, type, required, system, ...placed, ...(collection !== undefined && { collection }) };
};
