import { recordAudit } from '@recordbus/audit';
import { type Collection, createProblems, followCollections } from '@recordbus/schema';
import type { Actor } from '../audit/actor.ts';
import { isSameDefinition } from '../collections/is-same-definition.ts';
import { updateCollection } from '../schema/collections-table.ts';
import { findByFoldedName } from '../schema/find-collection.ts';
import type { SchemaChange, SchemaChanges } from '../schema/schema-changes.ts';
import { applyDrafts } from './apply-drafts.ts';
import type { SnapshotToApply } from './read-snapshot.ts';
import type { SnapshotCollection } from './snapshot-document.ts';

/** What an apply did: collection names. */
export interface AppliedSnapshot {
  readonly mode: SnapshotToApply['mode'];
  readonly created: string[];
  readonly updated: string[];
  readonly unchanged: string[];
}

/**
 * Creates a snapshot's missing collections and, in mode `sync`, changes those that exist. It applies all or nothing and
 * drops nothing (collections §11). Throws 422 that names problems by collection, and 409 when a unique index covers
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

/** Restores `updated_at` in collections that did not change. Returns the names of those that did. */
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
