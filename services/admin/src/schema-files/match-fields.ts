import type { Field } from '@recordbus/schema';

type Definition = Readonly<Record<string, unknown>>;

/**
 * Returns the definitions with the ids of the fields that they describe: a known id stays, and a definition with an
 * unknown id matches the field of its name, unless that field has another type (schema §3.2). Values that are not
 * definitions pass through, to be refused later.
 */
export function matchFields(before: readonly Field[], definitions: readonly unknown[]): unknown[] {
  const known = new Set(before.map(({ id }) => id));
  const named = new Set(definitions.map((definition) => (isDefinition(definition) ? definition.id : undefined)));
  return definitions.map((definition) => {
    if (!isDefinition(definition) || (typeof definition.id === 'string' && known.has(definition.id))) return definition;
    const same = before.find(({ id, name }) => name === definition.name && !named.has(id));
    if (!same || (definition.id !== undefined && same.type !== definition.type)) return definition;
    return { ...definition, id: same.id };
  });
}

export const isDefinition = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
