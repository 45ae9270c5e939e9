import { recordAudit } from '@recordbus/audit';
import { newId } from '@recordbus/database';
import {
  type Collection,
  createProblems,
  findCollectionNameProblem,
  type Problems,
  readFieldDefinitions,
} from '@recordbus/schema';
import type { Actor } from '../audit/actor.ts';
import { planCreate } from '../ddl/create-table.ts';
import { insertCollection } from '../schema/collections-table.ts';
import { findByFoldedName } from '../schema/find-collection.ts';
import type { SchemaChange, SchemaChanges } from '../schema/schema-changes.ts';
import { buildView } from '../views/build-view.ts';
import { checkDefaults } from './check-defaults.ts';
import { checkRules } from './check-rules.ts';
import type { NewCollection } from './collection-draft.ts';
import { nameTaken } from './errors.ts';
import { readAlias } from './read-alias.ts';
import { readDurability } from './read-durability.ts';
import { readFresh } from './read-fresh.ts';
import { readRetention } from './read-retention.ts';
import { defaultRules, readRules, refuseOtherTypesRules } from './read-rules.ts';

/** Creates a collection and its table. Throws 400 when the name is taken, and 422 that names every other problem. */
export function createCollection(
  changes: SchemaChanges,
  draft: NewCollection,
  nowSec: number,
  actor: Actor,
): Promise<Collection> {
  return changes.make(async (schema) => {
    const collection = await applyCreate(schema, draft, nowSec);
    const problems = createProblems();
    await checkDefaults(schema.query, undefined, collection, problems);
    problems.throwIfAny();
    const { id, name, type } = collection;
    await recordAudit(schema.query, {
      ...actor,
      action: 'collections.create',
      target: { type: 'collection', id },
      details: { name, type },
    });
    return collection;
  });
}

/** Creates a collection as one part of a larger schema change. */
export async function applyCreate(
  { query, collections, execute }: SchemaChange,
  draft: NewCollection,
  nowSec: number,
): Promise<Collection> {
  const planned = await readCollection(draft, collections, nowSec);
  if (planned.type !== 'view') {
    await execute(planCreate(planned));
    await insertCollection(query, planned);
    return planned;
  }
  const view = await buildView(planned, { query, collections, checksIds: true });
  const problems = createProblems();
  await checkRules(view, [...collections, view], problems);
  problems.throwIfAny();
  await insertCollection(query, view);
  return view;
}

async function readCollection(
  draft: NewCollection,
  collections: readonly Collection[],
  nowSec: number,
): Promise<Collection> {
  if (findByFoldedName(collections, draft.name)) throw nameTaken(draft.name);
  const problems = createProblems();
  const nameProblem = findCollectionNameProblem(draft.name);
  if (nameProblem) problems.add('name', nameProblem);
  refuseMembersOfOtherTypes(draft, problems);
  refuseOtherTypesRules(draft, draft.type, problems);
  const plain: Collection = {
    id: newId(),
    name: draft.name,
    type: draft.type,
    // A view's fields come from its query.
    fields:
      draft.type === 'view'
        ? []
        : readFieldDefinitions(
            draft.fields,
            {
              collectionType: draft.type,
              findCollection: (name) =>
                name === draft.name ? draft : collections.find((other) => other.name === name),
            },
            problems,
          ),
    viewQuery: draft.view_query ?? null,
    ...readAlias(draft.alias, undefined, collections, problems),
    rules: readRules(draft, defaultRules[draft.type]),
    historyEnabled: draft.history_enabled ?? false,
    ...readDurability(draft.durability, draft.type, problems),
    ...readFresh(draft.fresh_s, draft.type, problems),
    createdAtSec: nowSec,
    updatedAtSec: nowSec,
  };
  const collection = { ...plain, ...readRetention(draft, undefined, plain, problems) };
  if (collection.type !== 'view') await checkRules(collection, [...collections, collection], problems);
  problems.throwIfAny();
  return collection;
}

function refuseMembersOfOtherTypes({ type, view_query, history_enabled }: NewCollection, problems: Problems): void {
  if (type === 'view') {
    if (!view_query) problems.add('view_query', 'is required');
    if (history_enabled) problems.add('history_enabled', 'is not for view collections');
  } else if (view_query != null) problems.add('view_query', 'is only for view collections');
}
