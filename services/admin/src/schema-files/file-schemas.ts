import { type JsonSchema, toJsonSchema } from '@recordbus/http';
import { fieldTypes } from '@recordbus/schema';
import type { z } from 'zod';
import { collectionFile, variable, webhookFile } from './schema-document.ts';

/** The kinds of JSON files in a schema. */
export type FileKind = 'collection' | 'webhook' | 'settings';

const draft = 'https://json-schema.org/draft/2020-12/schema';
const text = { type: 'string' };
const nullable = { type: ['string', 'null'] };
/** A file may name its JSON Schema, which does not belong to the definition. */
const reference = { $schema: text };

/** Returns the files' JSON Schemas, with which editors complete and check them (schema §7.6). */
export const fileSchemas = (): Readonly<Record<FileKind, JsonSchema>> => ({
  collection: extend(collectionFile, 'A collection', { fields: { type: 'array', items: fieldSchema() } }),
  webhook: extend(webhookFile, 'A webhook', {
    name: text,
    url: textOrVariable(),
    events: { type: 'array', items: text },
    headers: { type: 'object', additionalProperties: textOrVariable() },
    enabled: { type: 'boolean' },
    rate: { type: ['number', 'null'] },
    ordering: { enum: ['none', 'record', 'all'] },
    on_failure: { enum: ['block', 'skip'] },
    batch: {
      anyOf: [
        { type: 'object', properties: { max: { type: 'integer' }, wait_ms: { type: 'integer' } }, required: ['max'] },
        { type: 'null' },
      ],
    },
    filter: nullable,
    payload_days: { type: ['integer', 'null'] },
    ...Object.fromEntries(['retry_max', 'retry_delay_ms', 'timeout_ms'].map((name) => [name, { type: 'integer' }])),
  }),
  settings: {
    $schema: draft,
    title: 'Settings',
    type: 'object',
    properties: reference,
    additionalProperties: textOrVariable(),
  },
});

function extend(file: z.ZodType, title: string, members: JsonSchema): JsonSchema {
  const { properties, ...rest } = toJsonSchema(file, 'input');
  return { $schema: draft, title, ...rest, properties: { ...reference, ...Object(properties), ...members } };
}

const textOrVariable = (): JsonSchema => ({ anyOf: [text, toJsonSchema(variable, 'input')] });

/** The definition of a field with any type: the options depend on the type. */
const fieldSchema = (): JsonSchema => ({
  oneOf: [...fieldTypes.values()].map(({ name, options, hasOuterOptions, refersToCollection }) => {
    const described = toJsonSchema(options, 'input');
    const own = Object(described.properties) as object;
    return {
      type: 'object',
      properties: {
        id: text,
        name: text,
        renamedFrom: text,
        type: { const: name },
        required: { type: 'boolean' },
        ...(refersToCollection && { collection: text }),
        ...(hasOuterOptions && own),
        options: { ...described, properties: { ...own, default: {} } },
        view_rule: nullable,
        write_rule: nullable,
      },
      required: ['name', 'type', ...(refersToCollection ? ['collection'] : [])],
      additionalProperties: false,
    };
  }),
});
