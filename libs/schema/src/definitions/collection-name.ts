import { namePattern } from '../naming.ts';

/** First segments of paths under /api that are not collections (collections §1.3). */
const reservedNames = new Set([
  'admin',
  'auth',
  'batch',
  'collections',
  'files',
  'health',
  'metrics',
  'realtime',
  'records',
  'settings',
  'v1',
  'x',
]);

/** Finds what is wrong with a collection's name, apart from being taken (collections §1.2, §1.3). */
export function findCollectionNameProblem(name: string): string | undefined {
  if (!namePattern.test(name)) return 'must begin with a letter and have at most 63 letters, digits and underscores';
  if (reservedNames.has(name.toLowerCase())) return `"${name}" is reserved`;
  return undefined;
}
