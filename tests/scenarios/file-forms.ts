import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { multipart, type Part } from '../harness/clients/multipart.ts';
import { type JsonObject, objectAt } from '../harness/json.ts';

/** A PNG with one pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A file field. */
export const fileField = (name: string, options: object = {}) => ({ name, type: 'file', options });

/** Sends a form to a collection (POST) or a record (PATCH). Returns the record. Throws when the form is refused. */
export async function upload(client: Client, path: string, ...parts: readonly Part[]): Promise<JsonObject> {
  const method = path.split('/').length > 4 ? 'PATCH' : 'POST';
  const answer = await client.send(method, path, multipart(...parts));
  assert.ok(answer.status === 200 || answer.status === 201, `${method} ${path}: ${answer.status} ${answer.text}`);
  return objectAt(answer.json, 'data');
}

/** Returns the names in a `multiple` field. Throws when the field holds no list. */
export const namesOf = (record: JsonObject, field: string): string[] => {
  const value = record[field];
  assert.ok(Array.isArray(value), `${field} is ${JSON.stringify(value)}`);
  return value.map(String);
};
