import { boundedList } from '@recordbus/http/bounded-list';
import { durabilities, historyKeepJson, retainJson, writtenField } from '@recordbus/schema';
import { z } from 'zod';
import { freshSeconds } from './read-fresh.ts';

/** Only the type; `checkRules` validates the expression. */
const rule = z.string('must be null or a string').nullish();

/** Never null: public means every owner's webhooks, so it is written out (webhooks §9.2). */
const webhookRule = z.string('must be a string').optional();

/** Other systems' ids for a collection. */
const alias = z
  .string('must be null or a string')
  .regex(/^[A-Za-z0-9_-]{1,63}$/, 'must have 1 to 63 letters, digits, underscores and hyphens')
  .nullish();

/** The members that a request and a schema file both have. */
export const collectionMembers = {
  name: z.string('must be a string'),
  type: z.enum(['base', 'auth', 'view'], 'must be base, auth or view'),
  view_query: z.string('must be a string').nullish(),
  alias,
  list_rule: rule,
  view_rule: rule,
  create_rule: rule,
  update_rule: rule,
  delete_rule: rule,
  sign_in_rule: rule,
  webhook_rule: webhookRule,
  history_enabled: z.boolean('must be true or false').optional(),
  durability: z.enum(durabilities, 'must be full or relaxed').optional(),
  fresh_s: freshSeconds,
  retain: retainJson.nullish(),
  history_keep: historyKeepJson.nullish(),
};

const members = {
  ...collectionMembers,
  // `readFieldDefinitions` reports the field limit. This limit bounds the cost of copying the list.
  fields: z.union(
    [boundedList(z.unknown().meta({ ...writtenField }), 10_000), z.string()],
    'must be a list of field definitions',
  ),
  // Set by the server; ignored, so that a collection that was read can be sent back.
  id: z.unknown().optional(),
  created_at: z.unknown().optional(),
  updated_at: z.unknown().optional(),
  etag: z.unknown().optional(),
  guests: z.unknown().optional(),
};

/** A new collection as an admin sends it (collections §5). */
export const newCollection = z.strictObject({
  ...members,
  type: members.type.default('base'),
  fields: members.fields.default([]),
});

/** A change to a collection. Members that are left out stay as they are (collections §6.1). */
export const collectionChange = z.strictObject(members).partial();

export type NewCollection = z.output<typeof newCollection>;
export type CollectionChange = z.output<typeof collectionChange>;
