import { accountColumns } from '../account-columns.ts';
import type { CollectionType } from '../collection.ts';
import { namePattern } from '../naming.ts';

/** Members in every record that are not fields (fields §1.3). */
const reservedNames = new Set(['id', 'created', 'updated', 'created_at', 'updated_at', 'expand']);

/** Account members and columns that are not fields (fields §1.3). */
const reservedOnAuth = new Set([
  'anonymous',
  'password',
  'old_password',
  'has_password',
  ...accountColumns.map(({ name }) => name),
]);

/** Columns that PostgreSQL adds to each table; it refuses others with these names (PostgreSQL manual, §5.6). */
const databaseColumns = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']);

/** Finds what is wrong with a field's name, apart from being taken. */
export function findFieldNameProblem(name: string, collectionType: CollectionType): string | undefined {
  if (!namePattern.test(name)) return 'must begin with a letter and have at most 63 letters, digits and underscores';
  const folded = name.toLowerCase();
  if (reservedNames.has(folded) || (collectionType === 'auth' && reservedOnAuth.has(folded)))
    return `"${name}" is reserved`;
  if (databaseColumns.has(name)) return `"${name}" is reserved by the database`;
  return undefined;
}
