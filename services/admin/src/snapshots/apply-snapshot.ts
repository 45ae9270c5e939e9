import { isDeepStrictEqual } from 'node:util';
import { recordAudit } from '@recordbus/audit';
import { type Collection, createProblems, followCollections, readFieldDefinitions } from '@recordbus/schema';
import { AppError, validationFailed } from '@recordbus/shared/errors';
import { startSlice } from '@recordbus/shared/time-slice';
import type { Actor } from '../audit/actor.ts';
import { applyChange } from '../collections/change-collection.ts';
import type { CollectionChange } from '../collections/collection-draft.ts';
import { applyCreate } from '../collections/create-collection.ts';
import { isSameDefinition } from '../collections/is-same-definition.ts';
import { ruleNames } from '../collections/read-rules.ts';
import { applyDroppedIndex, applyNewIndex } from '../indexes/change-indexes.ts';
import { definitionsOfIndexes } from '../indexes/present-indexes.ts';
import { updateCollection } from '../schema/collections-table.ts';
import { findByFoldedName } from '../schema/find-collection.ts';
import type { SchemaChange, SchemaChanges } from '../schema/schema-changes.ts';
import { hasFieldRules, isRelation, listOfFields, mergeFields, withoutFieldRules } from './merge-fields.ts';
import { orderViews } from './order-views.ts';
import type { SnapshotToApply } from './read-snapshot.ts';
import { checkEveryRule, dropAllViews, recreateView } from './recreate-views.ts';
import type { SnapshotCollection } from './snapshot-document.ts';

/** The result of an apply: names of collections. */
export interface AppliedSnapshot {
  readonly mode: SnapshotToApply['mode'];
  readonly created: string[];
  readonly updated: string[];
  readonly unchanged: string[];
}

/**
 * Creates the missing collections of a snapshot and, in mode `sync`, changes those that exist. It applies all or nothing
 * and drops nothing (collections §11). Throws 422 that names problems by collection, and 409 when a unique index covers
 * duplicate values.
 */
export function applySnapshot(
  changes: SchemaChanges,
  { collections, mode }: SnapshotToApply,
  nowSec: number,
  actor: Actor,
): Promise<AppliedSnapshot> {
  return changes.make(async (schema) => {
    const before = schema.collections;
    refuseNames(collections, before);
    const exists = ({ name }: SnapshotCollection) => before.some((collection) => collection.name === name);
    const wanted = collections.filter((draft) => mode === 'sync' || !exists(draft));
    const load = followCollections(schema.query);
    await applyDrafts(schema, wanted, { exists, load, nowSec });
    const changed = await restoreUnchangedTimes(schema, before, await load());
    const namesWhere = (is: (draft: SnapshotCollection) => boolean) => collections.filter(is).map(({ name }) => name);
    const applied: AppliedSnapshot = {
      mode,
      created: namesWhere((draft) => !exists(draft)),
      updated: namesWhere((draft) => exists(draft) && changed.has(draft.name)),
      unchanged: namesWhere((draft) => exists(draft) && !changed.has(draft.name)),
    };
    await recordAudit(schema.query, { ...actor, action: 'snapshots.apply', details: { ...applied } });
    return applied;
  });
}

function refuseNames(drafts: readonly SnapshotCollection[], collections: readonly Collection[]): void {
  const problems = createProblems();
  const folded = new Set<string>();
  for (const { name, type } of drafts) {
    const existing = findByFoldedName(collections, name);
    if (existing && existing.name !== name) problems.add(`collections.${name}.name`, `is taken by ${existing.name}`);
    if (existing && existing.name === name && existing.type !== type)
      problems.add(`collections.${name}.type`, `cannot change from ${existing.type}`);
    if (folded.has(name.toLowerCase())) problems.add(`collections.${name}.name`, 'is in the snapshot twice');
    folded.add(name.toLowerCase());
  }
  problems.throwIfAny();
}

interface Applying {
  readonly exists: (draft: SnapshotCollection) => boolean;
  /** Returns the collections as they are now. */
  readonly load: () => Promise<readonly Collection[]>;
  readonly nowSec: number;
}

/**
 * Applies the drafts in an order that always works: tables without relations, then all fields with relations, which may
 * form circles, then indexes, then views, each after those that it reads, then rules, which may name any of them.
 */
async function applyDrafts(
  schema: SchemaChange,
  drafts: readonly SnapshotCollection[],
  { exists, load, nowSec }: Applying,
): Promise<void> {
  const tables = drafts.filter(({ type }) => type !== 'view');
  const step = async (draft: Pick<SnapshotCollection, 'name'>, work: (now: SchemaChange) => Promise<unknown>) => {
    const now = { ...schema, collections: await load() };
    await reportingUnder(draft.name, () => work(now));
  };
  const change = (draft: Pick<SnapshotCollection, 'name'>, body: CollectionChange) =>
    step(draft, (now) => applyChange(now, draft.name, body, nowSec));

  // The current views may prevent a change of a table that the new views allow.
  const droppedViews = new Set<string>();
  if (await changesFieldsOfAny(schema.collections, tables.filter(exists))) {
    for (const { name, type } of schema.collections) if (type === 'view') droppedViews.add(name);
    await dropAllViews(schema, [...droppedViews]);
  }
  const recreatesViews = droppedViews.size > 0;
  for (const draft of tables.filter((table) => !exists(table))) {
    const fields = listOfFields(draft.fields);
    const own = typeof fields === 'string' ? fields : withoutFieldRules(fields).filter((field) => !isRelation(field));
    await step(draft, (now) => applyCreate(now, { ...withoutRules(draft), fields: own }, nowSec));
  }
  const fieldsOf = async ({ name, fields: written }: SnapshotCollection, { hasRules }: { hasRules: boolean }) => {
    const existing = (await load()).find((collection) => collection.name === name);
    const fields = listOfFields(written);
    if (typeof fields === 'string') return fields;
    return mergeFields(existing?.fields ?? [], hasRules ? fields : withoutFieldRules(fields));
  };
  for (const draft of tables) {
    const fields = await fieldsOf(draft, { hasRules: false });
    await change(draft, { fields, history_enabled: draft.history_enabled, durability: draft.durability });
  }
  for (const draft of tables) await step(draft, (now) => applyIndexes(now, draft));
  const views = drafts.filter(({ type }) => type === 'view');
  const kept = schema.collections
    .filter(({ name }) => droppedViews.has(name) && !views.some((draft) => draft.name === name))
    .map(({ name, viewQuery }) => ({ name, view_query: viewQuery, isKept: true as const }));
  for (const view of await orderViews([...views, ...kept])) {
    const body = 'isKept' in view ? {} : { view_query: view.view_query, ...rulesOf(view) };
    if (droppedViews.delete(view.name)) {
      await step(view, (now) => recreateView(now, view.name, body, droppedViews, nowSec));
    } else if ('isKept' in view || exists(view)) {
      await change(view, body);
    } else await step(view, (now) => applyCreate(now, withoutIndexes(view), nowSec));
  }
  if (recreatesViews) await checkEveryRule(await load());
  for (const draft of tables) {
    const fields = namesFieldRules(draft) ? await fieldsOf(draft, { hasRules: true }) : undefined;
    await change(draft, { ...rulesOf(draft), ...(fields !== undefined && { fields }) });
  }
}

/** Whether one of the drafts changes the fields of its collection. Runs in slices of time. */
async function changesFieldsOfAny(
  collections: readonly Collection[],
  drafts: readonly SnapshotCollection[],
): Promise<boolean> {
  const slice = startSlice();
  for (const draft of drafts) {
    if (slice.isOver()) await slice.pause();
    if (changesFields(collections, draft)) return true;
  }
  return false;
}

/** Whether the draft changes the fields of an existing collection. Problems are reported when they are applied. */
function changesFields(collections: readonly Collection[], draft: SnapshotCollection): boolean {
  const existing = collections.find(({ name }) => name === draft.name);
  const fields = listOfFields(draft.fields);
  if (!existing || typeof fields === 'string') return false;
  const planned = readFieldDefinitions(
    mergeFields(existing.fields, fields),
    {
      collectionType: existing.type,
      previous: existing.fields,
      // Targets are validated when the fields are applied.
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

/** Whether the snapshot has rules of fields. */
function namesFieldRules(draft: SnapshotCollection): boolean {
  const fields = listOfFields(draft.fields);
  return typeof fields !== 'string' && fields.some(hasFieldRules);
}

/** Returns the rules that the snapshot names. */
const rulesOf = (draft: SnapshotCollection): CollectionChange =>
  Object.fromEntries(
    ruleNames.flatMap((name) => {
      const rule = draft[`${name}_rule`];
      return rule === undefined ? [] : [[`${name}_rule`, rule]];
    }),
  );

async function applyIndexes(schema: SchemaChange, draft: SnapshotCollection): Promise<void> {
  let collection = schema.collections.find(({ name }) => name === draft.name);
  if (!collection) throw new Error(`the collection ${draft.name} is missing`);
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

/** Restores `updated_at` of collections that did not change. Returns the names of those that did. */
async function restoreUnchangedTimes(
  { query }: SchemaChange,
  before: readonly Collection[],
  collections: readonly Collection[],
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  for (const collection of collections) {
    const former = before.find(({ id }) => id === collection.id);
    if (!former || !isSameDefinition(former, collection)) changed.add(collection.name);
    else if (former.updatedAtSec !== collection.updatedAtSec) await updateCollection(query, former);
  }
  return changed;
}

/** Runs the work and reports 400 and 422 as 422, with places below the collection's name. */
async function reportingUnder(name: string, work: () => Promise<unknown>): Promise<void> {
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
