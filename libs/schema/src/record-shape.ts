import { createHash } from 'node:crypto';
import type { Collection } from './collection.ts';
import { isEncrypted } from './encrypted-values.ts';
import { fieldTypeOf } from './fields/index.ts';
import { perCollection } from './per-collection.ts';

/** 66 bits. */
const shapeLength = 11;

/**
 * Names how a collection's records look in its events: which fields they have, under which names and with which types.
 * Two definitions with one shape read a record alike. Names alone do not show this: fields may swap them, and a
 * collection may take a dropped one's name (events §2.2).
 */
export const shapeOf = perCollection(({ id, type, fields }: Collection): string => {
  const parts = fields.map((field) => [field.id, field.name, fieldTypeOf(field).columnType(field), isEncrypted(field)]);
  return createHash('sha256')
    .update(JSON.stringify([id, type, parts]))
    .digest('base64url')
    .slice(0, shapeLength);
});
