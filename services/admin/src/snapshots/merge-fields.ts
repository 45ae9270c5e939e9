import type { Field } from '@recordbus/schema';

/** A definition as far as it says which field it means. */
interface Definition {
  readonly id?: unknown;
  readonly name?: unknown;
}

/**
 * The definitions of a snapshot for a collection that exists: a field is known by its id, else by its name, and the
 * fields that the snapshot lacks stay (contract §8). What is no definition goes through, to be refused as such.
 */
export function mergeFields(existing: readonly Field[], definitions: readonly unknown[]): unknown[] {
  const ids = new Set(existing.map(({ id }) => id));
  const named = new Set(definitions.map((definition) => (isDefinition(definition) ? definition.id : undefined)));
  const meant = new Set<string>();
  const merged = definitions.map((definition) => {
    if (!isDefinition(definition)) return definition;
    if (typeof definition.id === 'string' && ids.has(definition.id)) {
      meant.add(definition.id);
      return definition;
    }
    const same = existing.find(({ id, name }) => name === definition.name && !named.has(id));
    if (!same) return definition;
    meant.add(same.id);
    return { ...definition, id: same.id };
  });
  return [...merged, ...existing.filter(({ id }) => !meant.has(id))];
}

const isDefinition = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The list of definitions that a snapshot carries as JSON text; what is none is handed on, to be refused. */
export function listOfFields(fields: string | readonly unknown[]): readonly unknown[] | string {
  if (typeof fields !== 'string') return fields;
  try {
    const parsed: unknown = JSON.parse(fields);
    return Array.isArray(parsed) ? parsed : fields;
  } catch {
    return fields;
  }
}

/** Does the definition lead to another collection, which may not be there yet? */
export const isRelation = (definition: unknown): boolean =>
  isDefinition(definition) && 'type' in definition && definition.type === 'relation';
