import { type Collection, createProblems, type Field, readFieldDefinitions } from '@recordbus/schema';
import { testCollection as collectionOf } from '@recordbus/schema/testing';

/** Returns a collection with the given definitions, read as a create reads them. Its id is `c`; field ids are names. */
export function testCollection(
  name: string,
  definitions: readonly object[],
  rest: Partial<Collection> = {},
): Collection {
  const problems = createProblems();
  const withIds = definitions.map((definition) => ({ id: 'name' in definition ? definition.name : '', ...definition }));
  const fields: Field[] = readFieldDefinitions(
    withIds,
    { collectionType: 'base', findCollection: (target) => ({ name: target, type: 'base' }) },
    problems,
  );
  problems.throwIfAny();
  return collectionOf(name, fields, { id: 'c', ...rest });
}
