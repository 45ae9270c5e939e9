import { conflict } from '@recordbus/errors';
import { isHidden } from '@recordbus/query';
import {
  type Collection,
  type CollectionIndex,
  createProblems,
  isText,
  namePattern,
  newFieldId,
  type Problems,
} from '@recordbus/schema';
import type { NewIndex } from './index-draft.ts';
import { systemColumns } from './keep-indexes.ts';
import { readSearchIndex } from './read-search-index.ts';

/** PostgreSQL's limit. */
const maxColumns = 32;

/** Reads a new index's definition. Throws 409 when the name is taken, and 422 that names every other problem. */
export function readIndex(collection: Collection, draft: NewIndex): CollectionIndex {
  const { name, unique, type } = draft;
  const problems = createProblems();
  if (collection.type === 'view')
    problems.add('name', 'a view has no indexes; create them on the collections that it reads');
  if (!namePattern.test(name))
    problems.add('name', 'must begin with a letter and have at most 63 letters, digits and underscores');
  const isTaken = collection.indexes?.some((other) => other.name.toLowerCase() === name.toLowerCase());
  if (isTaken) throw conflict('index_exists', `${collection.name} has an index "${name}"`);
  const read =
    type === 'search' ? readSearchIndex(collection, draft, problems) : readColumns(collection, draft, problems);
  problems.throwIfAny();
  return { id: newFieldId(), name, unique, type, ...read, ...(type === 'search' && { isBuilding: true as const }) };
}

/** Reads the columns of an index that is not for search. */
function readColumns(
  collection: Collection,
  { columns = [], unique, type, ...search }: NewIndex,
  problems: Problems,
): Pick<CollectionIndex, 'columns'> {
  for (const member of ['fields', 'language', 'prefix', 'typos', 'synonyms'] as const)
    if (search[member] !== undefined) problems.add(member, 'is only for search indexes');
  if (columns.length === 0) problems.add('columns', 'must name at least one column');
  if (columns.length > maxColumns) problems.add('columns', `must name at most ${maxColumns} columns`);
  if (unique && type === 'trigram') problems.add('unique', 'is not for trigram indexes');
  const read = columns.map((column) => readColumn(collection, column, type, problems));
  if (new Set(read).size < read.length) problems.add('columns', 'must name each column once');
  return { columns: read };
}

/** Returns the field's id or the system column's name. */
function readColumn(collection: Collection, name: string, type: NewIndex['type'], problems: Problems): string {
  const column = columnNames[name] ?? name;
  const field = collection.fields.find((other) => other.name === name);
  if (!field && !systemColumns.has(column)) problems.add('columns', `${collection.name} has no column "${name}"`);
  if (field && isHidden(field)) problems.add('columns', `"${name}" cannot be compared`);
  if (type === 'trigram' && !(field && isText(field)))
    problems.add('columns', `"${name}" is not a text field, as a trigram index needs`);
  return field?.id ?? column;
}

/** System columns by their names in records. */
const columnNames: Readonly<Record<string, string>> = { created: 'created_at', updated: 'updated_at' };
