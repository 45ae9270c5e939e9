import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

type Members = Record<string, unknown>;

/** Returns the problems that an editor finds in a changed schema file, by the JSON Schema that the file names. */
export function jsonSchemaProblems(path: string, change: (file: Members) => object = (file) => file): unknown[] {
  const file = JSON.parse(readFileSync(path, 'utf8'));
  const schema = JSON.parse(readFileSync(join(path, '..', file.$schema), 'utf8'));
  const isValid = new Ajv2020({ strict: false, logger: false }).compile(schema);
  return isValid(change(file)) ? [] : (isValid.errors ?? []);
}

const title = { name: 'title', type: 'text' };

/** Members that make a collection's file invalid. */
export const wrongMembers: readonly Members[] = [
  { lst_rule: null },
  { fields: [{ ...title, type: 'txt' }] },
  { fields: [{ ...title, options: { maximum: 1 } }] },
  { fields: [{ name: 'author', type: 'relation' }] },
];
