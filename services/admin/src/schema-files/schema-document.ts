import { toJsonSchema } from '@recordbus/http';
import { boundedList } from '@recordbus/http/bounded-list';
import { mapOf } from '@recordbus/http/map-of';
import { writtenField } from '@recordbus/schema';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { collectionMembers } from '../collections/collection-draft.ts';
import { newIndex } from '../indexes/index-draft.ts';

const version = 1;
const maxCollections = 2000;
const maxIndexes = 100;
const maxWebhooks = 1000;
const maxSettings = 2000;
const maxMigrations = 2000;
const maxSqlLength = 1024 * 1024;

/** An id that the product created. Constraint names in the database contain it, so it cannot be any text. */
const uuid = z
  .string('must be a string')
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'must be a UUID in lower case');

/** The environment variable that holds a text, which stays out of the files (schema §2.5). */
export const variable = z.strictObject({
  $env: boundedText(255).regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a variable name'),
});

export type Variable = z.output<typeof variable>;

/** A text, or the variable that holds it. */
export type Text = string | Variable;

/** Whether the value names a variable. */
export const isVariable = (value: unknown): value is Variable => variable.safeParse(value).success;

/** The name that a collection or a field had, for stacks that still have it (schema §3.2). */
const renamedFrom = z.string('must be a string');

/** A field in a file: a definition, perhaps with its former name. */
const fieldOfFile = {
  ...writtenField,
  properties: { ...Object(writtenField.properties), renamedFrom: toJsonSchema(renamedFrom, 'input') },
};

/** A collection's file (schema §2.2). `readFields` checks the fields. */
export const collectionFile = z.strictObject({
  ...collectionMembers,
  id: uuid.optional(),
  renamedFrom: renamedFrom.optional(),
  type: collectionMembers.type.default('base'),
  fields: boundedList(z.unknown().meta(fieldOfFile), 10_000, 'must be a list of field definitions')
    .default([])
    .meta({ default: [] }),
  indexes: boundedList(newIndex, maxIndexes, 'must be a list of indexes').default([]).meta({ default: [] }),
});

export type CollectionFile = z.output<typeof collectionFile>;

/** A webhook's file (schema §2.4). `readWebhooks` checks its values. */
export const webhookFile = z.strictObject({
  id: uuid.optional(),
  name: z.unknown(),
  url: z.unknown(),
  events: z.unknown(),
  secret: variable.optional(),
  headers: mapOf(z.unknown(), 'must be an object with header names and values').optional(),
  enabled: z.unknown().optional(),
  retry_max: z.unknown().optional(),
  retry_backoff: z.unknown().optional(),
  retry_delay_ms: z.unknown().optional(),
  timeout_ms: z.unknown().optional(),
  rate: z.unknown().optional(),
  ordering: z.unknown().optional(),
  on_failure: z.unknown().optional(),
  batch: z.unknown().optional(),
  filter: z.unknown().optional(),
  payload_days: z.unknown().optional(),
});

export type WebhookFile = z.output<typeof webhookFile>;

/** A data migration (schema §5). */
const migrationFile = z.strictObject({
  name: boundedText(120).regex(
    /^[0-9]{1,9}-[A-Za-z0-9][A-Za-z0-9_-]*$/,
    'must be a number, a hyphen and a name with letters, digits, underscores and hyphens',
  ),
  sql: boundedText(maxSqlLength),
});

export type MigrationFile = z.output<typeof migrationFile>;

/** Lists whose entries `readDocument` checks one by one. */
const readLater = (schema: z.ZodType) => z.unknown().meta({ ...toJsonSchema(schema, 'input') });

/** A schema's files as one document (schema §2.1). */
export const schemaDocument = z.strictObject({
  version: z.literal(version, `must be ${version}`),
  collections: boundedList(readLater(collectionFile), maxCollections, 'must be a list of collections'),
  webhooks: boundedList(readLater(webhookFile), maxWebhooks, 'must be a list of webhooks').optional(),
  settings: mapOf(z.unknown(), 'must be an object with keys and values')
    .refine((given) => Object.keys(given).length <= maxSettings, `must have at most ${maxSettings} settings`)
    .optional(),
  migrations: boundedList(readLater(migrationFile), maxMigrations, 'must be a list of migrations')
    .default([])
    .meta({ default: [] }),
});

export type SchemaDocument = z.output<typeof schemaDocument>;

/** Variables' values, by name. */
const variables = mapOf(boundedText(200_000)).default({}).meta({ default: {} });

/** A plan's body. */
export const planBody = z.strictObject({
  schema: schemaDocument,
  variables: variables.describe('the variables that the schema names, with their values'),
});

/** An apply's body. */
export const applyBody = planBody.extend({
  hash: boundedText(100).describe('the hash that the plan answered'),
  allow_drop: boundedList(boundedText(300), 10_000, 'must be a list of names')
    .default([])
    .meta({ default: [] })
    .describe('the drops to allow: posts, posts.subtitle, webhooks/crm'),
});

export type PlanBody = z.output<typeof planBody>;
export type ApplyBody = z.output<typeof applyBody>;

export { migrationFile, version as documentVersion };
