import type { readCustomEvents } from '@recordbus/extension-host/custom-events';
import type { JsonSchema } from '@recordbus/http';
import { type Collection, withExample } from '@recordbus/schema';
import { mayOwnersGet } from '@recordbus/settings';
import { z } from 'zod';
import { eventRecordSchema } from '../events/event-record-schema.ts';
import { productEvents } from './product-events.ts';
import type { Owner } from './webhook-owner.ts';

/** An event as the catalogue describes it (webhooks §10.4). */
export const catalogueEvent = z
  .object({
    name: z.string(),
    description: z.string(),
    schema: z.record(z.string(), z.unknown()).describe("a JSON Schema, draft 2020-12, for the request's body"),
    example: z.record(z.string(), z.unknown()).describe('a body that the schema allows'),
  })
  .meta({ id: 'CatalogueEvent' });

type Action = 'create' | 'update' | 'delete' | 'leave';

const descriptions: Readonly<Record<Action, (collection: string) => string>> = {
  create: (collection) => `A record in ${collection} was created.`,
  update: (collection) => `A record in ${collection} was changed.`,
  delete: (collection) => `A record in ${collection} was deleted.`,
  leave: (collection) => `A record in ${collection} no longer belongs to the webhook's owner.`,
};

/** Describes the events of the collections: all of them, or those that an owner's webhooks may get. */
export const eventCatalogue = (collections: readonly Collection[], owner: Owner | undefined) =>
  collections
    .filter(({ type, rules }) => type !== 'view' && (!owner || rules.webhook))
    .flatMap((collection) => {
      const actions: Action[] = ['create', 'update', 'delete', ...(owner ? (['leave'] as const) : [])];
      return actions
        .map((action) => ({ action, name: `${collection.name}.${action}` }))
        .filter(({ name }) => !owner || mayOwnersGet(owner.owners, name))
        .map(({ action, name }) =>
          describeEvent(name, action, owner ? withoutRuled(collection) : collection, owner !== undefined),
        );
    });

/** What owners see of the records (webhooks §9.3). */
const withoutRuled = (collection: Collection): Collection => ({
  ...collection,
  fields: collection.fields.filter(({ viewRule }) => viewRule == null),
});

function describeEvent(
  name: string,
  action: Action,
  collection: Collection,
  isOwned: boolean,
): z.output<typeof catalogueEvent> {
  const record = eventRecordSchema(collection);
  const schema = bodySchema(name, dataSchema(action, record, isOwned));
  const shown = exampleRecord(collection);
  return {
    name,
    description: descriptions[action](collection.name),
    schema,
    example: exampleBody(name, action, shown),
  };
}

/** An owner gets no past of a record that has just come to it, so only admins' webhooks can rely on it. */
function dataSchema(action: Action, record: JsonSchema, isOwned: boolean): JsonSchema {
  const object = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
    type: 'object',
    properties,
    required: [...required],
  });
  if (action === 'leave') return object({ id: { type: 'string' } }, ['id']);
  if (action !== 'update') return object({ record }, ['record']);
  const changed = { type: 'array', items: { type: 'string' }, description: 'the names of the changed fields' };
  return object({ record, previous: record, changed }, isOwned ? ['record'] : ['record', 'previous', 'changed']);
}

/** Describes the events that extensions declare, except those whose name a collection's event has. */
export function customCatalogue(
  events: Awaited<ReturnType<typeof readCustomEvents>>,
  others: readonly { readonly name: string }[],
): z.output<typeof catalogueEvent>[] {
  const taken = new Set(others.map(({ name }) => name));
  return events
    .filter(({ name }) => !taken.has(name))
    .map(({ name, description, schema, example }) => ({
      name,
      description,
      schema: bodySchema(name, schema),
      example: { id: exampleId, event: name, timestamp: exampleSec, data: example },
    }));
}

/** Describes the product's own events, which go to no owner. */
export const productCatalogue = (): z.output<typeof catalogueEvent>[] =>
  productEvents.map(({ name, description, data, example }) => ({
    name,
    description,
    schema: bodySchema(name, z.toJSONSchema(data, { io: 'input' }) as JsonSchema),
    example: { id: exampleId, event: name, timestamp: exampleSec, data: example },
  }));

const bodySchema = (name: string, data: JsonSchema): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    id: { type: 'string', description: "the event's id, the same for every webhook" },
    event: { const: name },
    timestamp: { type: 'integer', description: 'unix seconds' },
    version: { type: 'string', description: "the record's version after the write" },
    batch: {
      type: 'object',
      properties: { id: { type: 'string' }, index: { type: 'integer' }, size: { type: 'integer' } },
      required: ['id', 'index', 'size'],
      description: "the write's place in its batch",
    },
    data,
  },
  required: ['id', 'event', 'timestamp', 'data'],
});

const exampleId = '01890000-0000-7000-8000-000000000001';
const exampleSec = 1_767_225_600;

function exampleRecord(collection: Collection): Record<string, unknown> {
  const { properties } = eventRecordSchema(collection);
  const fields = new Map(collection.fields.map((field) => [field.name, field]));
  const exampleAt = (name: string): unknown => {
    const field = fields.get(name);
    if (field) return (withExample(field, {}).examples as readonly unknown[] | undefined)?.[0] ?? null;
    return name === 'id' ? exampleId : name === 'anonymous' ? false : exampleSec;
  };
  return Object.fromEntries(Object.keys(properties as object).map((name) => [name, exampleAt(name)]));
}

function exampleBody(name: string, action: Action, record: Record<string, unknown>): Record<string, unknown> {
  const data =
    action === 'leave'
      ? { id: exampleId }
      : action === 'update'
        ? { record, previous: record, changed: [] }
        : { record };
  return { id: exampleId, event: name, timestamp: exampleSec, version: '1', data };
}
