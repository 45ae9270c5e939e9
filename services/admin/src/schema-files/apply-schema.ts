import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import { AppError, conflict, validationFailed } from '@recordbus/errors';
import { inSlices } from '@recordbus/limits/time-slice';
import { type Collection, createProblems, type Problems, tableOf } from '@recordbus/schema';
import { readChangedSettings, storePatch } from '@recordbus/settings';
import type { Actor } from '../audit/actor.ts';
import { checkRows, countViolations, isRequired, violationsOf } from '../collections/check-rows.ts';
import { planChecks, planRequiredChecks } from '../ddl/checks.ts';
import { requireOwnNetworks } from '../keys/bounds.ts';
import { deleteCollectionRow, insertCollection, updateCollection } from '../schema/collections-table.ts';
import type { SchemaChange, SchemaChanges } from '../schema/schema-changes.ts';
import { followInSettings } from '../settings/follow-collections.ts';
import { changeWebhook, createWebhook, deleteWebhook } from '../webhooks/webhook-store.ts';
import { buildViews } from './build-views.ts';
import { type Change, dropsOf } from './change.ts';
import { changeTables } from './change-tables.ts';
import { checkAllRules } from './check-all-rules.ts';
import { computePlan, type SchemaPlan } from './compute-plan.ts';
import { hashOf, readCurrentSchema } from './current-schema.ts';
import { describeChanges } from './describe-changes.ts';
import { planSettings } from './plan-settings.ts';
import { readDocument, type SchemaFiles } from './read-document.ts';
import type { Variables } from './read-text.ts';
import { runMigrations } from './run-migrations.ts';
import type { ApplyBody } from './schema-document.ts';

/** What an apply did. */
export interface AppliedSchema {
  /** The schema's hash after the apply. */
  readonly hash: string;
  readonly changes: readonly Change[];
}

/**
 * Applies schema files in one transaction (schema §4). Throws 409 `schema_moved` when the schema has changed since the
 * plan, 422 `drop_not_allowed`, and 422 that names every other problem.
 */
export async function applySchema(
  changes: SchemaChanges,
  { schema: document, variables, hash, allow_drop: allowed }: ApplyBody,
  nowSec: number,
  actor: Actor,
): Promise<AppliedSchema> {
  const files = await readDocument(document);
  return changes.make(async (schema) => {
    const { query, cipher } = schema;
    // Locks out settings patches, as a collection's change does.
    await query({ text: "select version from system.versions where name = 'settings' for update", values: [] });
    const current = await readCurrentSchema(query, cipher);
    const found = await hashOf(current);
    if (found !== hash) throw conflict('schema_moved', 'the schema has changed since the plan: plan again');
    const plan = await computePlan(files, current, variables, nowSec);
    refuseMissing(plan);
    const described = await describeChanges(plan);
    refuseDrops(described, allowed);
    if (described.length === 0) {
      schema.leaveUnchanged();
      return { hash, changes: [] };
    }
    const after = await execute(schema, plan, nowSec);
    await applySettings(schema, files, variables, after, actor);
    await applyWebhooks(query, plan);
    const names = described.map(({ action, kind, name }) => `${action} ${kind} ${name}`);
    await recordAudit(query, {
      ...actor,
      action: 'schema.apply',
      details: { hash, count: names.length, changes: names.slice(0, maxAudited) },
    });
    return { hash: await hashOf(await readCurrentSchema(query, cipher)), changes: described };
  });
}

/** An audit row names at most this many changes. */
const maxAudited = 1000;

function refuseMissing({ webhooks, settings }: SchemaPlan): void {
  const missing = Object.fromEntries([...settings.missing, ...webhooks.missing]);
  if (Object.keys(missing).length > 0) throw validationFailed(missing);
}

function refuseDrops(changes: readonly Change[], allowed: readonly string[]): void {
  const names = new Set(allowed);
  const refused = dropsOf(changes).filter((name) => !names.has(name));
  if (refused.length === 0) return;
  const details = Object.fromEntries(refused.map((name) => [name, 'would be dropped']));
  throw new AppError(
    422,
    'drop_not_allowed',
    'the apply would drop something that is not allowed: allow each drop by name',
    { details },
  );
}

/** Changes the collections and runs the migrations. Returns all collections after that. */
async function execute(schema: SchemaChange, plan: SchemaPlan, nowSec: number): Promise<readonly Collection[]> {
  const { query, execute: run } = schema;
  const { collections, migrations } = plan;
  await refusePendingRemovals(query, collections.created);
  const problems = createProblems();
  await checkValues(schema, plan, problems);
  const views = schema.collections.filter(({ type }) => type === 'view');
  if (plan.rebuildsViews && views.length > 0) await run([`drop view ${views.map(tableOf).join(', ')}`]);
  await changeTables(schema, collections);
  await runMigrations(query, migrations, collections.after);
  await checkRequired(query, plan, problems);
  problems.throwIfAny();
  const formerQueries = new Map(schema.collections.map(({ id, viewQuery }) => [id, viewQuery]));
  const after = plan.rebuildsViews
    ? await buildViews(collections.after, {
        query,
        problems,
        checksIds: ({ id, viewQuery }) => migrations.length > 0 || formerQueries.get(id) !== viewQuery,
      })
    : collections.after;
  await checkAllRules(after, problems);
  problems.throwIfAny();
  await storeCollections(query, schema.collections, after, nowSec);
  return after;
}

/** A dropped collection may be created again with its id, by which the rest of its files are still removed. */
async function refusePendingRemovals(query: Query, created: readonly Collection[]): Promise<void> {
  const [row] = await query<{ id: string }>({
    text: 'select collection_id as id from system.file_removals where collection_id = any($1::text[]) limit 1',
    values: [created.map(({ id }) => id)],
  });
  const name = created.find(({ id }) => id === row?.id)?.name;
  if (name !== undefined)
    throw conflict('files_being_removed', `the dropped collection ${name}'s files are being removed; send it again`);
}

/**
 * Checks stored values before the tables change, and keeps writers out. Missing values are checked after the
 * migrations.
 */
async function checkValues({ query, cipher }: SchemaChange, plan: SchemaPlan, problems: Problems): Promise<void> {
  for await (const { before, after } of inSlices(plan.collections.kept)) {
    if (before === after || before.type === 'view') continue;
    const checks = planChecks(before, after, cipher);
    await checkRows(
      query,
      checks.filter((check) => !isRequired(check)),
      { ...problems, add: (place, message) => problems.add(`collections.${after.name}.${place}`, message) },
    );
  }
  problems.throwIfAny();
}

/** Counts the records without a value that is now required. The migrations may have given them one. */
async function checkRequired(query: Query, { collections }: SchemaPlan, problems: Problems): Promise<void> {
  for await (const { before, after } of inSlices(collections.kept)) {
    if (before === after || before.type === 'view') continue;
    for (const check of planRequiredChecks(before, after)) {
      const rows = await countViolations(query, check);
      if (rows > 0) problems.add(`collections.${after.name}.${check.place}`, violationsOf(check, rows));
    }
  }
}

/** Writes the collections' rows, and lets settings follow auth collections. Names may be swapped. */
async function storeCollections(
  query: Query,
  before: readonly Collection[],
  after: readonly Collection[],
  nowSec: number,
): Promise<void> {
  const formerById = new Map(before.map((collection) => [collection.id, collection]));
  const left = new Set(after.map(({ id }) => id));
  for (const former of before)
    if (!left.has(former.id)) {
      await deleteCollectionRow(query, former.id);
      await followInSettings(query, former, undefined);
    }
  const renamed = after.flatMap((now) => {
    const former = formerById.get(now.id);
    return former && former.name !== now.name
      ? [{ former, aside: { ...former, name: `aside:${former.id}` }, now }]
      : [];
  });
  for (const { former, aside } of renamed) {
    await updateCollection(query, aside);
    await followInSettings(query, former, aside);
  }
  for (const { aside, now } of renamed) await followInSettings(query, aside, now);
  for await (const now of inSlices(after)) {
    const former = formerById.get(now.id);
    if (!former) await insertCollection(query, now);
    else if (former !== now)
      await updateCollection(query, { ...now, updatedAtSec: Math.max(nowSec, now.updatedAtSec) });
    if (former && former !== now && former.name === now.name) await followInSettings(query, former, now);
  }
}

/** Stores the files' settings. Compares them again, because some have followed their collections meanwhile. */
async function applySettings(
  { query, cipher }: SchemaChange,
  files: SchemaFiles,
  variables: Variables,
  collections: readonly Collection[],
  actor: Actor,
): Promise<void> {
  if (files.settings === undefined) return;
  const problems = createProblems();
  const current = await readChangedSettings(query, cipher);
  const { patch } = planSettings(files.settings, current, { collections, variables, problems });
  problems.throwIfAny();
  await requireOwnNetworks(query, actor, Object.keys(patch));
  if (Object.keys(patch).length > 0) await storePatch(query, cipher, patch);
}

async function applyWebhooks(query: Query, { webhooks }: SchemaPlan): Promise<void> {
  for (const { id } of webhooks.dropped) await deleteWebhook(query, id);
  for (const { id, webhook } of webhooks.changed) await changeWebhook(query, id, webhook);
  for (const { id, webhook } of webhooks.created) await createWebhook(query, webhook, id);
}
