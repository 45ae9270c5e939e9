import { isSealed } from '@recordbus/query';
import {
  type Collection,
  type CollectionIndex,
  createProblems,
  namePattern,
  newFieldId,
  type Problems,
} from '@recordbus/schema';
import { conflict } from '@recordbus/shared/errors';
import { isText } from '../ddl/columns.ts';
import type { NewIndex } from './index-draft.ts';
import { systemColumns } from './keep-indexes.ts';

/** PostgreSQL's own limit. */
const maxColumns = 32;

/** Reads the definition of a new index. Throws 409 for a name that is taken, 422 naming everything else that is wrong. */
export function readIndex(collection: Collection, { name, columns, unique, type }: NewIndex): CollectionIndex {
  const problems = createProblems();
  if (collection.type === 'view') problems.add('name', 'a view has no indexes; make them where its query reads');
  if (!namePattern.test(name))
    problems.add('name', 'must begin with a letter and have at most 63 letters, digits and underscores');
  const isTaken = collection.indexes?.some((other) => other.name.toLowerCase() === name.toLowerCase());
  if (isTaken) throw conflict('index_exists', `${collection.name} has an index "${name}"`);
  if (columns.length === 0) problems.add('columns', 'must name at least one column');
  if (columns.length > maxColumns) problems.add('columns', `must name at most ${maxColumns} columns`);
  if (unique && type === 'trigram') problems.add('unique', 'is not for indexes of type trigram');
  const read = columns.map((column) => readColumn(collection, column, type, problems));
  if (new Set(read).size < read.length) problems.add('columns', 'must name each column once');
  problems.throwIfAny();
  return { id: newFieldId(), name, columns: read, unique, type };
}

/** The id of the field, or the name of the system column. */
function readColumn(collection: Collection, name: string, type: NewIndex['type'], problems: Problems): string {
  const column = shownAs[name] ?? name;
  const field = collection.fields.find((other) => other.name === name);
  if (!field && !systemColumns.has(column)) problems.add('columns', `${collection.name} has no column "${name}"`);
  if (field && isSealed(field)) problems.add('columns', `"${name}" can't be compared`);
  if (type === 'trigram' && !(field && isText(field)))
    problems.add('columns', `"${name}" is no text field, which an index of type trigram is for`);
  return field?.id ?? column;
}

/** System columns by the names that records show. */
const shownAs: Readonly<Record<string, string>> = { created: 'created_at', updated: 'updated_at' };
