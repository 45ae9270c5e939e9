import { namePattern } from '../naming.ts';

/**
 * First segments of paths under /api that are not collections (collections §1.3). A test of `infra/docs` compares them
 * with the declared routes.
 */
const routedNames = [
  'admin',
  'auth',
  'batch',
  'collections',
  'files',
  'health',
  'jobs',
  'metrics',
  'realtime',
  'records',
  'settings',
  'v1',
  'x',
];

/** Names kept free for routes of later versions. */
const keptFree = ['erase', 'mail', 'mcp', 'organisations', 'pb', 'scim', 'search', 'uploads', 'webhooks'];

/** The names that no new collection may have, in lower case. */
export const reservedCollectionNames: ReadonlySet<string> = new Set([...routedNames, ...keptFree].sort());

/**
 * Whether a name is reserved, in any case. A collection that had the name before it was reserved keeps it, and is only
 * found under /api/v1/records.
 */
export const isReservedCollectionName = (name: string): boolean => reservedCollectionNames.has(name.toLowerCase());

/** Whether a text can be the name of a collection, reserved or not (collections §1.2). */
export const isCollectionName = (text: string): boolean => namePattern.test(text);

/** Finds what is wrong with the name of a new collection, apart from being taken (collections §1.2, §1.3). */
export function findCollectionNameProblem(name: string): string | undefined {
  if (!isCollectionName(name)) return 'must begin with a letter and have at most 63 letters, digits and underscores';
  if (isReservedCollectionName(name)) return `"${name}" is reserved`;
  return undefined;
}
