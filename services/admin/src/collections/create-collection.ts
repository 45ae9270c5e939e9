import { newId } from '@recordbus/database';
import {
  type Collection,
  createProblems,
  findCollectionNameProblem,
  type Problems,
  readFieldDefinitions,
} from '@recordbus/schema';
import { planCreate } from '../ddl/create-table.ts';
import { checkRules } from './check-rules.ts';
import type { NewCollection } from './collection-draft.ts';
import { insertCollection } from './collections-table.ts';
import { nameTaken } from './errors.ts';
import { findByFoldedName } from './find-collection.ts';
import { publicRules, readRules } from './read-rules.ts';
import type { SchemaChanges } from './schema-changes.ts';

/**
 * Makes a collection and its table. Throws 400 for a name that is taken, 422 naming everything else that is wrong.
 */
export function createCollection(changes: SchemaChanges, draft: NewCollection, nowSec: number): Promise<Collection> {
  return changes.make(async ({ query, collections, execute }) => {
    const collection = readCollection(draft, collections, nowSec);
    await execute(planCreate(collection));
    await insertCollection(query, collection);
    return collection;
  });
}

function readCollection(draft: NewCollection, collections: readonly Collection[], nowSec: number): Collection {
  if (findByFoldedName(collections, draft.name)) throw nameTaken(draft.name);
  const problems = createProblems();
  const nameProblem = findCollectionNameProblem(draft.name);
  if (nameProblem) problems.add('name', nameProblem);
  refuseOtherTypes(draft, problems);
  const collection: Collection = {
    id: newId(),
    name: draft.name,
    type: draft.type,
    fields: readFieldDefinitions(
      draft.fields,
      {
        collectionType: draft.type,
        findCollection: (name) => (name === draft.name ? draft : collections.find((other) => other.name === name)),
      },
      problems,
    ),
    viewQuery: null,
    rules: readRules(draft, publicRules),
    historyEnabled: draft.history_enabled ?? false,
    createdAtSec: nowSec,
    updatedAtSec: nowSec,
  };
  checkRules(collection, [...collections, collection], problems);
  problems.throwIfAny();
  return collection;
}

function refuseOtherTypes({ type, view_query }: NewCollection, problems: Problems): void {
  if (type === 'view') problems.add('type', `collections of type ${type} are not supported yet`);
  else if (view_query != null) problems.add('view_query', 'is only for collections of type view');
}
