import { recordAudit } from '@recordbus/audit';
import { isDatabaseError } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { Actor } from '../audit/actor.ts';
import { planChange } from '../ddl/change-table.ts';
import { requireVersion } from '../schema/collection-etag.ts';
import { updateCollection } from '../schema/collections-table.ts';
import { getCollection } from '../schema/find-collection.ts';
import type { SchemaChange, SchemaChanges } from '../schema/schema-changes.ts';
import { followInSettings } from '../settings/follow-collections.ts';
import { buildView } from '../views/build-view.ts';
import { dropViews, rebuildViews } from '../views/rebuild-views.ts';
import { dependentsOf } from '../views/view-readings.ts';
import { checkDefaults } from './check-defaults.ts';
import { checkRules } from './check-rules.ts';
import type { CollectionChange } from './collection-draft.ts';
import { applyEncryptionChanges } from './encryption-changes.ts';
import { isSameDefinition } from './is-same-definition.ts';
import { countLostValues, type LostValues } from './lost-values.ts';
import { type PlannedChange, planCollectionChange } from './plan-collection-change.ts';

/** Which collection to change. */
export interface ChangeTarget {
  readonly idOrName: string;
  /** The versions that the caller admits (collections §9.4); undefined for any. */
  readonly versions: readonly string[] | undefined;
}

/** A collection after a change, and the values that its records lost. */
export interface ChangedCollection {
  readonly collection: Collection;
  readonly lostValues: readonly LostValues[];
}

/**
 * Changes a collection and its table or view. Other collections' relations, rules and views follow a new name. Writes
 * nothing if nothing changes. Throws 404; 412 for another version; 400 when the name is taken; 422 that names every
 * other problem, and how many records violate the new definition.
 */
export function changeCollection(
  changes: SchemaChanges,
  { idOrName, versions }: ChangeTarget,
  change: CollectionChange,
  nowSec: number,
  actor: Actor,
): Promise<ChangedCollection> {
  return changes.make(async (schema) => {
    requireVersion(getCollection(schema.collections, idOrName), versions);
    return changeWithAudit(schema, idOrName, change, nowSec, actor);
  });
}

/** Changes a collection within a schema change, and writes the audit row. */
export async function changeWithAudit(
  schema: SchemaChange,
  idOrName: string,
  change: CollectionChange,
  nowSec: number,
  actor: Actor,
): Promise<ChangedCollection> {
  const plan = await planCollectionChange(schema, idOrName, change, nowSec);
  if (isSameDefinition(plan.before, plan.planned)) {
    schema.leaveUnchanged();
    return { collection: plan.before, lostValues: [] };
  }
  await checkDefaults(schema.query, plan.before, plan.planned, plan.problems);
  plan.problems.throwIfAny();
  const lostValues = await countLostValues(schema, plan.before, plan.planned);
  const collection = await applyPlan(schema, plan);
  await recordAudit(schema.query, {
    ...actor,
    action: 'collections.update',
    target: { type: 'collection', id: collection.id },
    details: { name: collection.name, changed: Object.keys(change) },
  });
  return { collection, lostValues };
}

/**
 * Changes a collection as one part of a larger schema change, without an audit row. Returns the same collection, and
 * writes nothing, if nothing changes.
 */
export async function applyChange(
  schema: SchemaChange,
  idOrName: string,
  change: CollectionChange,
  nowSec: number,
): Promise<Collection> {
  return applyPlan(schema, await planCollectionChange(schema, idOrName, change, nowSec));
}

async function applyPlan(
  schema: SchemaChange,
  { before, planned, others, readings, problems }: PlannedChange,
): Promise<Collection> {
  const { query, collections, execute } = schema;
  const isView = before.type === 'view';
  if (isSameDefinition(before, planned)) return before;
  const isRebuilt = isView ? before.viewQuery !== planned.viewQuery : before.fields !== planned.fields;
  const views = isRebuilt || before.name !== planned.name ? dependentsOf(before.name, readings) : [];
  await dropViews(execute, views);
  const after = isView
    ? await changeView(schema, before, planned)
    : await alterTable(execute, before, planned).then(() => planned);
  if (!isView) await applyEncryptionChanges(schema, before, after);
  await updateCollection(query, after);
  await followInSettings(query, before, after);
  for (const other of others) {
    if (!collections.includes(other)) await updateCollection(query, other);
  }
  const current = await rebuildViews(schema, views, { before, after, collections: [after, ...others] });
  if (isView || views.length > 0) await checkRules(after, current, problems);
  problems.throwIfAny();
  return after;
}

async function changeView(
  { query, collections, execute }: SchemaChange,
  before: Collection,
  planned: Collection,
): Promise<Collection> {
  if (before.name === planned.name && before.viewQuery === planned.viewQuery) return planned;
  await dropViews(execute, [before.name]);
  const others = collections.filter(({ id }) => id !== before.id);
  return buildView(planned, { query, collections: others, checksIds: before.viewQuery !== planned.viewQuery });
}

async function alterTable(execute: SchemaChange['execute'], before: Collection, after: Collection): Promise<void> {
  try {
    await execute(planChange(before, after));
  } catch (error) {
    if (!isDatabaseError(error, tooManyColumns)) throw error;
    throw validationFailed({ fields: "the table has no room for another column; dropped fields' columns count too" });
  }
}

/** SQLSTATE for a table that would exceed 1,600 columns, dropped ones included. */
const tooManyColumns = '54011';
