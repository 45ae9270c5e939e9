import { toJsonSchema } from '@recordbus/http';
import { z } from 'zod';
import { type Collection, durabilities } from '../collection.ts';
import type { Field } from '../field.ts';
import { fieldTypes } from '../fields/index.ts';
import { historyKeepJson, presentRetain, retainJson } from './retention.ts';

const rule = z.string().nullable();

/** A collection as the API shows it (collections §1.4). */
export const collectionJson = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(['base', 'auth', 'view']),
  fields: z.string().describe('field definitions as a JSON-encoded array'),
  view_query: z.string().nullable(),
  alias: z.string().optional().describe('a second name, by which old links find it; left out without one'),
  list_rule: rule,
  view_rule: rule,
  create_rule: rule,
  update_rule: rule,
  delete_rule: rule,
  sign_in_rule: rule.optional().describe('which accounts may sign in; auth collections only'),
  webhook_rule: z
    .string()
    .optional()
    .describe("which records' events go to webhooks with an owner; left out without one, and no events go"),
  history_enabled: z.boolean(),
  durability: z.enum(durabilities).describe('what writes wait for'),
  fresh_s: z.int().optional().describe("how old a writing user's sign-in may be, in seconds; left out without a bound"),
  retain: retainJson.optional().describe('how long records stay; left out without it, and they stay for ever'),
  history_keep: historyKeepJson.optional().describe('which versions stay; left out without it, and all stay'),
  created_at: z.int().describe('unix seconds'),
  updated_at: z.int().describe('unix seconds'),
});

/** Returns a collection as answers show it. */
export const presentCollection = (collection: Collection): z.output<typeof collectionJson> => ({
  id: collection.id,
  name: collection.name,
  type: collection.type,
  fields: JSON.stringify(collection.fields.map(presentField)),
  view_query: collection.viewQuery,
  ...(collection.alias !== undefined && { alias: collection.alias }),
  list_rule: collection.rules.list,
  view_rule: collection.rules.view,
  create_rule: collection.rules.create,
  update_rule: collection.rules.update,
  delete_rule: collection.rules.delete,
  ...(collection.type === 'auth' && { sign_in_rule: collection.rules.sign_in ?? null }),
  ...(collection.rules.webhook !== undefined && { webhook_rule: collection.rules.webhook }),
  history_enabled: collection.historyEnabled,
  durability: collection.durability ?? 'full',
  ...(collection.freshSec !== undefined && { fresh_s: collection.freshSec }),
  ...presentRetain(collection),
  ...(collection.historyKeep && { history_keep: collection.historyKeep }),
  created_at: collection.createdAtSec,
  updated_at: collection.updatedAtSec,
});

/** A field definition as the API shows it (fields §1.1). */
export const fieldJson = z
  .object({
    id: z.string().describe('stable over renames'),
    name: z.string(),
    type: z.string(),
    required: z.boolean(),
    system: z.boolean().describe('every auth collection has it'),
    options: z.record(z.string(), z.unknown()),
    collection: z.string().optional().describe('target collection; relation fields only'),
    view_rule: rule.optional().describe('who sees the field; left out where null, as the record'),
    write_rule: rule.optional().describe('who may write the field; left out where null, as the record'),
    onCreate: z.boolean().optional().describe('autodate fields only'),
    onUpdate: z.boolean().optional().describe('autodate fields only'),
  })
  .meta({ id: 'FieldDefinition' });

/** A field definition in a body, as descriptions show it. `readFieldDefinitions` validates the values. */
export const writtenField = toJsonSchema(fieldJson.partial().required({ name: true, type: true }), 'input');

/** Returns a field definition as answers show it. */
export const presentField = (field: Field) => {
  const { id, name, type, required, system, options, ...rest } = definitionOf(field);
  // The database orders an object's members itself; sorted, the text is the same before and after.
  const sorted = Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
  const placed = fieldTypes.get(type)?.hasOuterOptions ? { ...sorted, options: {} } : { options: sorted };
  return { id, name, type, required, system, ...placed, ...rest };
};

/** Returns a field as a definition, which `readFieldDefinitions` reads back into the same field. */
export const definitionOf = ({ viewRule, writeRule, ...field }: Field) => ({
  ...field,
  ...(viewRule != null && { view_rule: viewRule }),
  ...(writeRule != null && { write_rule: writeRule }),
});
