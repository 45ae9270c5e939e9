import { toJsonSchema } from '@recordbus/http';
import { z } from 'zod';
import { operationVerbs } from '../batch/operation.ts';
import { anyRecord } from './record-schema.ts';

/** Not an object schema: document readers would treat a property `$ref` as a JSON Schema reference. */
const reference = z
  .record(z.string(), z.string())
  .describe('`{"$ref": "<as>.<member>"}`, a member of an earlier operation\'s result');

const operation = z.object({
  op: z.enum(operationVerbs),
  collection: z.string(),
  id: z.union([z.string(), reference]).optional().describe('the record; for a create, its new id'),
  on: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe("for an upsert without id: a unique field, or a unique index's fields"),
  data: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('the fields; a value may be `{"$ref": "<as>.<member>"}`, a member of an earlier result'),
  if_match: z.string().optional().describe("the current version's ETag, or * for any"),
  as: z.string().optional().describe('a name by which later operations refer to the result'),
});

const result = z.object({
  status: z.literal([200, 201]),
  data: anyRecord.nullable().describe('null after a delete'),
  etag: z.string().nullable().describe("the record's version; null after a delete"),
});

/** A batch's schemas. Its operations are read one by one, so a refusal has the operation's index. */
export const describedBatch = {
  body: toJsonSchema(z.object({ operations: z.array(operation) }), 'input'),
  answer: toJsonSchema(z.array(result), 'output'),
};

/** The form for a batch with files (batch §4). */
export const batchForm = {
  type: 'object',
  description: 'One part for each file, with the name `<index>.<field>`: the number of its operation, and the field.',
  properties: {
    operations: {
      type: 'string',
      contentMediaType: 'application/json',
      description: 'the operations, as a JSON list',
    },
  },
  required: ['operations'],
};
