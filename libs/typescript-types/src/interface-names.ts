/** The suffixes for a collection's interfaces: reads, creates, updates and expands. */
export const suffixes = ['', 'Create', 'Update', 'Expand'] as const;

/** Names that the document uses itself. */
const used = ['Schema', 'Routes', 'Blob', 'Record'];

/** `my_books` becomes `MyBooks`. If two collections would get the same name, the later one gets a number. */
export function interfaceNames(collections: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(used);
  return new Map(
    collections.map((collection) => {
      const name = pascalCase(collection);
      const isFree = (candidate: string): boolean => suffixes.every((suffix) => !taken.has(`${candidate}${suffix}`));
      let free = name;
      for (let number = 2; !isFree(free); number += 1) free = `${name}${number}`;
      for (const suffix of suffixes) taken.add(`${free}${suffix}`);
      return [collection, free];
    }),
  );
}

const pascalCase = (name: string): string =>
  name
    .split('_')
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('');
