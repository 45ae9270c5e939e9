import { AppError, validationFailed } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import { applyChange } from '../collections/change-collection.ts';
import type { CollectionChange } from '../collections/collection-draft.ts';
import { applyCreate } from '../collections/create-collection.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';
import { applyIndexes } from './apply-indexes.ts';
import { changesFieldsOfAny } from './changes-fields.ts';
import { namesFieldRules, rulesOf, withoutIndexes, withoutRules } from './draft-parts.ts';
import { isRelation, listOfFields, mergeFields, withoutFieldRules } from './merge-fields.ts';
import { orderViews } from './order-views.ts';
import { checkEveryRule, dropAllViews, recreateView } from './recreate-views.ts';
import type { SnapshotCollection } from './snapshot-document.ts';

interface Applying {
  readonly exists: (draft: SnapshotCollection) => boolean;
  /** Returns the collections as they are now. */
  readonly load: () => Promise<readonly Collection[]>;
  readonly nowSec: number;
}

type Named = Pick<SnapshotCollection, 'name'>;

/** An apply's steps. Each sees the collections as the steps before it left them. */
interface Steps {
  /** Runs the work, which returns one of the given collections only if it changed nothing. */
  run(draft: Named, work: (now: SchemaChange) => Promise<unknown>): Promise<void>;
  change(draft: Named, body: CollectionChange): Promise<void>;
  /** Returns a collection's fields after the draft. Texts are reported when they are applied. */
  fieldsAfter(draft: SnapshotCollection, options: { readonly hasRules: boolean }): Promise<CollectionChange['fields']>;
}

/**
 * Applies the drafts in an order that always works: tables without relations, then all fields with relations, which may
 * form circles, then indexes, then views, each after those that it reads, then rules, which may name anything.
 */
export async function applyDrafts(
  schema: SchemaChange,
  drafts: readonly SnapshotCollection[],
  applying: Applying,
): Promise<void> {
  const { exists, load, nowSec } = applying;
  const tables = drafts.filter(({ type }) => type !== 'view');
  const steps = stepsOf(schema, applying);
  const droppedViews = await dropViewsInTheWay(schema, tables.filter(exists));
  const recreatesViews = droppedViews.size > 0;
  for (const draft of tables.filter((table) => !exists(table))) {
    const fields = listOfFields(draft.fields);
    const own = typeof fields === 'string' ? fields : withoutFieldRules(fields).filter((field) => !isRelation(field));
    await steps.run(draft, (now) => applyCreate(now, { ...withoutRules(draft), fields: own }, nowSec));
  }
  for (const draft of tables) {
    const fields = await steps.fieldsAfter(draft, { hasRules: false });
    await steps.change(draft, {
      fields,
      history_enabled: draft.history_enabled,
      durability: draft.durability,
      fresh_s: draft.fresh_s ?? null,
      retain: draft.retain ?? null,
      history_keep: draft.history_keep ?? null,
      alias: draft.alias,
    });
  }
  for (const draft of tables) await steps.run(draft, (now) => applyIndexes(now, draft));
  await applyViews(schema, drafts, { ...applying, steps, droppedViews });
  if (recreatesViews) await checkEveryRule(await load());
  for (const draft of tables) {
    const fields = namesFieldRules(draft) ? await steps.fieldsAfter(draft, { hasRules: true }) : undefined;
    await steps.change(draft, { ...rulesOf(draft), ...(fields !== undefined && { fields }) });
  }
}

function stepsOf(schema: SchemaChange, { load, nowSec }: Applying): Steps {
  let current: readonly Collection[] | undefined;
  const loadIfChanged = async () => {
    current ??= await load();
    return current;
  };
  const run: Steps['run'] = async (draft, work) => {
    const collections = await loadIfChanged();
    const after = await reportingUnder(draft.name, () => work({ ...schema, collections }));
    if (!collections.some((collection) => collection === after)) current = undefined;
  };
  return {
    run,
    change: (draft, body) => run(draft, (now) => applyChange(now, draft.name, body, nowSec)),
    async fieldsAfter({ name, fields: written }, { hasRules }) {
      const existing = (await loadIfChanged()).find((collection) => collection.name === name);
      const fields = listOfFields(written);
      if (typeof fields === 'string') return fields;
      return mergeFields(existing?.fields ?? [], hasRules ? fields : withoutFieldRules(fields));
    },
  };
}

/** Drops all views if fields change. The current views may prevent a table change that the new views allow. */
async function dropViewsInTheWay(schema: SchemaChange, changed: readonly SnapshotCollection[]): Promise<Set<string>> {
  if (!(await changesFieldsOfAny(schema.collections, changed))) return new Set();
  const names = schema.collections.filter(({ type }) => type === 'view').map(({ name }) => name);
  await dropAllViews(schema, names);
  return new Set(names);
}

interface ApplyingViews extends Applying {
  readonly steps: Steps;
  /** The views that were dropped and are not created again yet. */
  readonly droppedViews: Set<string>;
}

/** Creates, changes and recreates views, each after those that it reads. */
async function applyViews(
  schema: SchemaChange,
  drafts: readonly SnapshotCollection[],
  { exists, nowSec, steps, droppedViews }: ApplyingViews,
): Promise<void> {
  const views = drafts.filter(({ type }) => type === 'view');
  const kept = schema.collections
    .filter(({ name }) => droppedViews.has(name) && !views.some((draft) => draft.name === name))
    .map(({ name, viewQuery }) => ({ name, view_query: viewQuery, isKept: true as const }));
  for (const view of await orderViews([...views, ...kept])) {
    const body = 'isKept' in view ? {} : { view_query: view.view_query, ...rulesOf(view) };
    if (droppedViews.delete(view.name))
      await steps.run(view, (now) => recreateView(now, view.name, body, droppedViews, nowSec));
    else if ('isKept' in view || exists(view)) await steps.change(view, body);
    else await steps.run(view, (now) => applyCreate(now, withoutIndexes(view), nowSec));
  }
}

/** Runs the work and reports 400 and 422 as 422, with places below the collection's name. */
async function reportingUnder<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || !(error.status === 422 || error.status === 400)) throw error;
    const details = Object.entries(error.details ?? { name: error.message });
    throw validationFailed(
      Object.fromEntries(details.map(([place, message]) => [`collections.${name}.${place}`, String(message)])),
    );
  }
}
