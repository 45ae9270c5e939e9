import { isDeepStrictEqual } from 'node:util';
import { recordAudit } from '@recordbus/audit';
import { type Collection, createProblems, loadCollections, readFieldDefinitions } from '@recordbus/schema';
import { AppError, validationFailed } from '@recordbus/shared/errors';
import type { Author } from '../audit/author.ts';
import { applyChange } from '../collections/change-collection.ts';
import type { CollectionChange } from '../collections/collection-draft.ts';
import { updateCollection } from '../collections/collections-table.ts';
import { applyCreate } from '../collections/create-collection.ts';
import { findByFoldedName } from '../collections/find-collection.ts';
import { isSameDefinition } from '../collections/is-same-definition.ts';
import { ruleNames } from '../collections/read-rules.ts';
import type { SchemaChange, SchemaChanges } from '../collections/schema-changes.ts';
import { applyDroppedIndex, applyNewIndex } from '../indexes/change-indexes.ts';
import { definitionsOfIndexes } from '../indexes/present-indexes.ts';
import { isRelation, listOfFields, mergeFields } from './merge-fields.ts';
import { orderViews } from './order-views.ts';
import { renewView, takeViewsDown } from './renew-views.ts';
import type { SnapshotCollection, SnapshotToApply } from './snapshot-document.ts';

/** What became of the collections of a snapshot, by name. */
export interface Applied {
  readonly mode: SnapshotToApply['mode'];
  readonly created: string[];
  readonly updated: string[];
  readonly unchanged: string[];
}

/**
 * Makes the collections of a snapshot that are missing and, when it is to be synchronised, changes those that exist;
 * all of it or nothing, and nothing is dropped. Throws 422 naming what is wrong by its collection, and 409 for a unique
 * index over values that are there twice.
 */
export function applySnapshot(
  changes: SchemaChanges,
  { snapshot, mode }: SnapshotToApply,
  nowSec: number,
  author: Author,
): Promise<Applied> {
  return changes.make(async (schema) => {
    const before = schema.collections;
    refuseNames(snapshot.collections, before);
    const isThere = ({ name }: SnapshotCollection) => before.some((collection) => collection.name === name);
    const wanted = snapshot.collections.filter((draft) => mode === 'sync' || !isThere(draft));
    await makeAll(schema, wanted, isThere, nowSec);
    const after = await keepUnchanged(schema, before);
    const namesWhere = (is: (draft: SnapshotCollection) => boolean) =>
      snapshot.collections.filter(is).map(({ name }) => name);
    const applied: Applied = {
      mode,
      created: namesWhere((draft) => !isThere(draft)),
      updated: namesWhere((draft) => isThere(draft) && after.has(draft.name)),
      unchanged: namesWhere((draft) => isThere(draft) && !after.has(draft.name)),
    };
    await recordAudit(schema.query, { ...author, action: 'snapshots.apply', details: { ...applied } });
    return applied;
  });
}

function refuseNames(drafts: readonly SnapshotCollection[], collections: readonly Collection[]): void {
  const problems = createProblems();
  const folded = new Set<string>();
  for (const { name, type } of drafts) {
    const there = findByFoldedName(collections, name);
    if (there && there.name !== name) problems.add(`collections.${name}.name`, `is taken by ${there.name}`);
    if (there && there.name === name && there.type !== type)
      problems.add(`collections.${name}.type`, `cannot change from ${there.type}`);
    if (folded.has(name.toLowerCase())) problems.add(`collections.${name}.name`, 'stands there twice');
    folded.add(name.toLowerCase());
  }
  problems.throwIfAny();
}

/**
 * Tables first, without what leads from one to another; then their relations, of which some may form a circle, then
 * the rules, which may follow any of them, the indexes, and at last the views, each behind those that it reads.
 */
async function makeAll(
  schema: SchemaChange,
  drafts: readonly SnapshotCollection[],
  isThere: (draft: SnapshotCollection) => boolean,
  nowSec: number,
): Promise<void> {
  const tables = drafts.filter(({ type }) => type !== 'view');
  const step = async (draft: SnapshotCollection, work: (now: SchemaChange) => Promise<unknown>) => {
    const now = await current(schema);
    await naming(draft.name, () => work(now));
  };
  const change = (draft: SnapshotCollection, body: CollectionChange) =>
    step(draft, (now) => applyChange(now, draft.name, body, nowSec));

  // A table may change in a way that its views as they are stand against, and as they are to be do not.
  const takenDown = new Set<string>();
  if (tables.some((draft) => isThere(draft) && changesFields(schema.collections, draft))) {
    for (const { name, type } of schema.collections) if (type === 'view') takenDown.add(name);
    await takeViewsDown(schema, [...takenDown]);
  }
  for (const draft of tables.filter((table) => !isThere(table))) {
    const fields = listOfFields(draft.fields);
    const own = typeof fields === 'string' ? fields : fields.filter((field) => !isRelation(field));
    await step(draft, (now) => applyCreate(now, { ...withoutRules(draft), fields: own }, nowSec));
  }
  for (const draft of tables) {
    const existing = (await loadCollections(schema.query)).collections.find(({ name }) => name === draft.name);
    const fields = listOfFields(draft.fields);
    const merged = typeof fields === 'string' ? fields : mergeFields(existing?.fields ?? [], fields);
    await change(draft, { fields: merged, history_enabled: draft.history_enabled });
  }
  for (const draft of tables) await change(draft, rulesOf(draft));
  for (const draft of tables) await step(draft, (now) => applyIndexes(now, draft));
  const views = drafts.filter(({ type }) => type === 'view');
  const kept = schema.collections
    .filter(({ name }) => takenDown.has(name) && !views.some((draft) => draft.name === name))
    .map(({ name, viewQuery }) => ({ name, view_query: viewQuery, isKept: true as const }));
  for (const view of await orderViews([...views, ...kept])) {
    const body = 'isKept' in view ? {} : { view_query: view.view_query, ...rulesOf(view) };
    if (takenDown.delete(view.name)) {
      await naming(view.name, () => renewView(schema, view.name, body, takenDown, nowSec));
    } else if ('isKept' in view || isThere(view)) {
      await naming(view.name, async () => applyChange(await current(schema), view.name, body, nowSec));
    } else await step(view, (now) => applyCreate(now, withoutIndexes(view), nowSec));
  }
}

/** A change of the schema with the collections as it has made them so far. */
const current = async (schema: SchemaChange): Promise<SchemaChange> => ({
  ...schema,
  collections: (await loadCollections(schema.query)).collections,
});

/** Will the fields of a collection that exists be others? What is wrong with them is said when they are changed. */
function changesFields(collections: readonly Collection[], draft: SnapshotCollection): boolean {
  const existing = collections.find(({ name }) => name === draft.name);
  const fields = listOfFields(draft.fields);
  if (!existing || typeof fields === 'string') return false;
  const planned = readFieldDefinitions(
    mergeFields(existing.fields, fields),
    {
      collectionType: existing.type,
      previous: existing.fields,
      // Relations lead where they led, or are new.
      findCollection: (name) => ({ name, type: 'base' }),
    },
    createProblems(),
  );
  return !isDeepStrictEqual(planned, existing.fields);
}

const withoutIndexes = ({ indexes: _, ...draft }: SnapshotCollection) => draft;

const withoutRules = (draft: SnapshotCollection) => {
  const {
    list_rule: _l,
    view_rule: _v,
    create_rule: _c,
    update_rule: _u,
    delete_rule: _d,
    ...rest
  } = withoutIndexes(draft);
  return rest;
};

/** Those that the snapshot names. */
const rulesOf = (draft: SnapshotCollection): CollectionChange =>
  Object.fromEntries(
    ruleNames.flatMap((name) => {
      const rule = draft[`${name}_rule`];
      return rule === undefined ? [] : [[`${name}_rule`, rule]];
    }),
  );

async function applyIndexes(schema: SchemaChange, draft: SnapshotCollection): Promise<void> {
  let collection = schema.collections.find(({ name }) => name === draft.name);
  if (!collection) throw new Error(`${draft.name} was not made`);
  for (const wanted of draft.indexes) {
    const existing = definitionsOfIndexes(collection).find(
      ({ name }) => name.toLowerCase() === wanted.name.toLowerCase(),
    );
    if (existing && JSON.stringify(existing) === JSON.stringify(definitionOf(wanted))) continue;
    if (existing) collection = await applyDroppedIndex(schema, collection, existing.name);
    collection = await applyNewIndex(schema, collection, wanted);
  }
}

const definitionOf = ({ name, columns, unique, type }: SnapshotCollection['indexes'][number]) => ({
  name,
  columns,
  unique,
  type,
});

/** Puts back the time of the last change of what ended as it began; gives the names of what did not. */
async function keepUnchanged({ query }: SchemaChange, before: readonly Collection[]): Promise<ReadonlySet<string>> {
  const { collections } = await loadCollections(query);
  const changed = new Set<string>();
  for (const collection of collections) {
    const former = before.find(({ id }) => id === collection.id);
    if (!former || !isSameDefinition(former, collection)) changed.add(collection.name);
    else if (former.updatedAtSec !== collection.updatedAtSec) await updateCollection(query, former);
  }
  return changed;
}

/** Whatever is wrong with a collection is 422 here, under the collection's name. */
async function naming(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof AppError) || !(error.status === 422 || error.status === 400)) throw error;
    const details = Object.entries(error.details ?? { name: error.message });
    throw validationFailed(
      Object.fromEntries(details.map(([place, message]) => [`collections.${name}.${place}`, String(message)])),
    );
  }
}
