import type { Field, Problems } from '@recordbus/schema';
import { isObject } from '@recordbus/text/json';
import { matchNamed } from './match-named.ts';

type Definition = Readonly<Record<string, unknown>>;

/**
 * Returns the definitions with the ids of the fields that they describe, and without their former names (schema §3.2).
 * Values that are not definitions pass through, to be refused later.
 */
export function matchFields(
  before: readonly Field[],
  definitions: readonly unknown[],
  problems: Pick<Problems, 'add'>,
): unknown[] {
  const refuse = ({ name }: Definition, message: string) => problems.add(`fields.${String(name)}.renamedFrom`, message);
  const read = definitions.filter(isObject);
  for (const definition of read)
    if (definition.renamedFrom !== undefined && typeof definition.renamedFrom !== 'string')
      refuse(definition, 'must be a string');
  const found = new Map(matchNamed(read, before, refuse).map((field, position) => [read[position], field]));
  return definitions.map((definition) => {
    if (!isObject(definition)) return definition;
    const { renamedFrom: _, ...rest } = definition;
    const id = found.get(definition)?.id;
    return id === undefined ? rest : { ...rest, id };
  });
}
