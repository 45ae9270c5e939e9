import { namePattern } from '../naming.ts';

/** First segments of paths under /api that are no collection (contract §1). */
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

/** What is wrong with a collection's name, apart from being taken; undefined when nothing is (contract §1). */
export function findCollectionNameProblem(name: string): string | undefined {
  if (!namePattern.test(name)) return 'must begin with a letter and have at most 63 letters, digits and underscores';
  if (reservedNames.has(name.toLowerCase())) return `"${name}" is reserved`;
  return undefined;
}
