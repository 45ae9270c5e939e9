import type { JsonSchema } from '@recordbus/http';
import type { Collection } from './collection.ts';
import type { Field } from './field.ts';
import { changedPassword, newPassword, writableOf, writtenSchemaOf } from './record-schemas.ts';

/** The JSON Schema for one file in a form. */
const bytes: JsonSchema = { type: 'string', format: 'binary' };

/** The JSON Schema for a form with files for a record in any collection (files §3.1). */
export const anyForm: JsonSchema = {
  type: 'object',
  description: 'One part for each file, named like its field; a part `_json` may hold all other fields.',
  properties: { _json: { type: 'string', description: 'other body members, as a JSON object' } },
};

/**
 * The JSON Schema for a form with files for a record in the collection; undefined without file fields. `content` is the
 * component with the same body's schema as JSON. Nothing is required: `_json` may hold every member but the files.
 */
export function recordFormSchema(
  { type, fields }: Collection,
  { content, isNew }: { readonly content: string; readonly isNew: boolean },
): JsonSchema | undefined {
  const writable = writableOf(fields);
  if (!writable.some(isFile)) return undefined;
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(writable.map((field) => [field.name, partOf(field)])),
      ...(type === 'auth' && (isNew ? newPassword : changedPassword)),
      _json: {
        type: 'string',
        contentMediaType: 'application/json',
        contentSchema: { $ref: `#/components/schemas/${content}` },
        description: 'body members without their own part, as a JSON object',
      },
    },
  };
}

const isFile = ({ type }: Field): boolean => type === 'file';

function partOf(field: Field): JsonSchema {
  // A part is a text, which is never null.
  if (!isFile(field)) return writtenSchemaOf({ ...field, required: true });
  if (!field.options.multiple) return { ...bytes, description: 'the file' };
  return { type: 'array', items: bytes, description: 'the files, each in its own part; an update adds them' };
}
