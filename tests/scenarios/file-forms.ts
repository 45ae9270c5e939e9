import assert from 'node:assert/strict';
import type { Client } from '../harness/client.ts';
import { type JsonObject, objectAt } from '../harness/json.ts';
import { multipart, type Part } from '../harness/multipart.ts';

/** A PNG of one pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A field of files. */
export const fileField = (name: string, options: object = {}) => ({ name, type: 'file', options });
/** Defines a base collection. */
export const define = (admin: Client, name: string, fields: readonly object[], rest: object = {}) =>
  admin.post('/api/v1/collections', { name, type: 'base', fields, ...rest });

/** Sends a form to a collection (POST) or to a record (PATCH), and gives the record. Throws when it is refused. */
export async function upload(client: Client, path: string, ...parts: readonly Part[]): Promise<JsonObject> {
  const method = path.split('/').length > 4 ? 'PATCH' : 'POST';
  const answer = await client.send(method, path, multipart(...parts));
  assert.ok(answer.status === 200 || answer.status === 201, `${method} ${path}: ${answer.status} ${answer.text}`);
  return objectAt(answer.json, 'data');
}

/** The names of a field of several files. Throws when it holds no list. */
export const namesOf = (record: JsonObject, field: string): string[] => {
  const value = record[field];
  assert.ok(Array.isArray(value), `${field} is ${JSON.stringify(value)}`);
  return value.map(String);
};
