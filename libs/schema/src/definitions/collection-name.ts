import { namePattern } from '../naming.ts';

/**
 * First path segments under /api that are not collections (collections §1.3). A test in `infra/docs` compares them and
 * those below with the declared routes. No version had a collection with one of these names.
 */
const reservedAlways = [
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
];

/** Names that an earlier version's collection may have: a route's, and those kept free for later routes. */
const reservedLater = ['erase', 'jobs', 'mail', 'mcp', 'organisations', 'pb', 'scim', 'search', 'uploads', 'webhooks'];

const always: ReadonlySet<string> = new Set(reservedAlways);

/** The names that no new collection may have, in lower case. */
export const reservedCollectionNames: ReadonlySet<string> = new Set([...reservedAlways, ...reservedLater].sort());

/**
 * Whether a name is reserved, in any case. A collection that had the name before it was reserved keeps it, and is only
 * found under /api/v1/records.
 */
export const isReservedCollectionName = (name: string): boolean => reservedCollectionNames.has(name.toLowerCase());

/** Whether some collection can have the name, perhaps since a version that did not reserve it. */
export const mayBeCollectionName = (text: string): boolean => isCollectionName(text) && !always.has(text.toLowerCase());

/** Whether a text can be a collection name, reserved or not (collections §1.2). */
export const isCollectionName = (text: string): boolean => namePattern.test(text);

/** Finds what is wrong with a new collection's name, apart from being taken (collections §1.2, §1.3). */
export function findCollectionNameProblem(name: string): string | undefined {
  if (!isCollectionName(name)) return 'must begin with a letter and have at most 63 letters, digits and underscores';
  if (isReservedCollectionName(name)) return `"${name}" is reserved`;
  return undefined;
}
