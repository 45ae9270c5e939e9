import { findJsonExcess } from '@recordbus/http/json-shape';
import type { Field } from '../field.ts';
import { type DefinitionContext, memberOf, readDefinition } from './field-definition.ts';
import { completeAuthFields } from './implicit-fields.ts';
import type { Problems } from './problems.ts';

/**
 * A row with this many fields still fits a database page when every value is stored out of line, which leaves 18 bytes
 * in the row. A collection with more fields could be created, but its records could not be written.
 */
const maxFields = 400;

/**
 * How many values all `select` fields together may have. A quarter of a million keep a process busy for 75 ms (cost
 * §4.1).
 */
const maxValues = 20_000;

/**
 * Reads field definitions as an admin sends them, an array or its JSON text (collections §2.1), and completes them:
 * options with their defaults, ids where there are none. A definition is the field in `previous` with its id, or
 * without an id the one with its name. Adds what is wrong to `problems`; use the fields only if there are none.
 */
export function readFieldDefinitions(input: unknown, context: DefinitionContext, problems: Problems): Field[] {
  const list = typeof input === 'string' ? parseFieldList(input) : input;
  if (!Array.isArray(list)) {
    problems.add('fields', 'must be a list of field definitions');
    return [];
  }
  if (list.length > maxFields) {
    problems.add('fields', `must have at most ${maxFields} fields`);
    return [];
  }
  if (countValues(list) > maxValues) {
    problems.add('fields', `must have at most ${maxValues} values to choose from, all fields together`);
    return [];
  }
  const fields: Field[] = [];
  // A definition without an id never means a field that another definition names by its id.
  const namedById = new Set(list.map((item: unknown) => memberOf(item, 'id')));
  const unnamed = context.previous?.filter(({ id }) => !namedById.has(id)) ?? [];
  for (const [position, item] of list.entries()) {
    if (problems.isFull()) return [];
    const field = readDefinition(item, position, { ...context, unnamed }, problems);
    if (field) fields.push(field);
  }
  const all = context.collectionType === 'auth' ? completeAuthFields(fields, context.previous, problems) : fields;
  refuseDuplicates(all, problems);
  return all;
}

/** Counts the values of `select` fields in definitions that were not checked yet. */
function countValues(definitions: readonly unknown[]): number {
  let count = 0;
  for (const definition of definitions) {
    const values = memberOf(memberOf(definition, 'options'), 'values');
    if (Array.isArray(values)) count += values.length;
  }
  return count;
}

/** Names are unique without case, ids with case (fields §1.2, §1.3). */
function refuseDuplicates(fields: readonly Field[], problems: Problems): void {
  const names = new Set<string>();
  const ids = new Set<string>();
  for (const { name, id } of fields) {
    if (names.has(name.toLowerCase())) problems.add(`fields.${name}.name`, "is already another field's name");
    if (ids.has(id)) problems.add(`fields.${name}.id`, "is already another field's id");
    names.add(name.toLowerCase());
    ids.add(id);
  }
}

/**
 * Parses a definition list from JSON text. Returns undefined for a text that is not a list, or that exceeds a body's
 * limits (http §2.1).
 */
export function parseFieldList(text: string): readonly unknown[] | undefined {
  if (findJsonExcess(Buffer.from(text))) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
