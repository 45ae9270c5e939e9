import { definitionOf, type Field, parseFieldList } from '@recordbus/schema';
import { isObject } from '@recordbus/text/json';

/**
 * Merges a snapshot's definitions into an existing collection's fields. The id identifies a field, or the name without
 * one; fields that the snapshot lacks stay (collections §11.3, §11.4). Values that are not definitions pass through, to
 * be refused later.
 */
export function mergeFields(existing: readonly Field[], definitions: readonly unknown[]): unknown[] {
  const ids = new Set(existing.map(({ id }) => id));
  const named = new Set(definitions.map((definition) => (isObject(definition) ? definition.id : undefined)));
  const matched = new Set<string>();
  const merged = definitions.map((definition) => {
    if (!isObject(definition)) return definition;
    if (typeof definition.id === 'string' && ids.has(definition.id)) {
      matched.add(definition.id);
      return definition;
    }
    const same = existing.find(({ id, name }) => name === definition.name && !named.has(id));
    if (!same) return definition;
    matched.add(same.id);
    return { ...definition, id: same.id };
  });
  return [...merged, ...existing.filter(({ id }) => !matched.has(id)).map(definitionOf)];
}

/** Returns definitions without field rules, which may name collections and fields that do not exist yet. */
export const withoutFieldRules = (definitions: readonly unknown[]): unknown[] =>
  definitions.map((definition) => {
    if (!hasFieldRules(definition)) return definition;
    const { view_rule: _v, write_rule: _w, ...rest } = definition;
    if (!isObject(rest.options)) return rest;
    const { viewRule: _r, ...options } = rest.options;
    return { ...rest, options };
  });

/** Whether the definition has a rule for its field. */
export const hasFieldRules = (definition: unknown): definition is Readonly<Record<string, unknown>> =>
  isObject(definition) &&
  [definition.view_rule, definition.write_rule, isObject(definition.options) && definition.options.viewRule].some(
    (rule) => typeof rule === 'string',
  );

/** Parses a definition list from JSON text. Returns any other text as is, to be refused later. */
export function listOfFields(fields: string | readonly unknown[]): readonly unknown[] | string {
  return typeof fields === 'string' ? (parseFieldList(fields) ?? fields) : fields;
}

/** Whether the definition is a relation, whose target may not exist yet. */
export const isRelation = (definition: unknown): boolean =>
  isObject(definition) && 'type' in definition && definition.type === 'relation';
