import { fieldTypes } from '../fields/index.ts';

/** A definition for each type's samples, named for the type: `select`, `select2`. */
export const exampleDefinitions = (): readonly Readonly<Record<string, unknown>>[] =>
  [...fieldTypes.values()].flatMap(({ name, samples, refersToCollection }) =>
    samples.map(({ options }, index) => ({
      name: index === 0 ? name : `${name}${index + 1}`,
      type: name,
      ...(refersToCollection && { collection: 'posts' }),
      ...(options !== undefined && { options }),
    })),
  );
