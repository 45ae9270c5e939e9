import type { ValueCipher } from '@recordbus/crypto';
import type { Database, Query } from '@recordbus/database';
import { readCustomEvents } from '@recordbus/extension-host/custom-events';
import { inSlices } from '@recordbus/limits/time-slice';
import type { Collection, Problems } from '@recordbus/schema';
import { warningsOfDefinition } from '../collections/warn-of-definition.ts';
import { findFilterProblem } from '../references/check-filter.ts';
import { findUnknownPatterns } from '../webhooks/warn-of-patterns.ts';
import { tryViews } from './build-views.ts';
import { type Change, dropsOf, type Lock } from './change.ts';
import { checkAllRules } from './check-all-rules.ts';
import { computePlan, type SchemaPlan } from './compute-plan.ts';
import { checkStoredValues, countLosses } from './count-losses.ts';
import { hashOf, readCurrentSchema } from './current-schema.ts';
import { describeChanges } from './describe-changes.ts';
import { findLocks } from './find-locks.ts';
import { limitCounts } from './limited-count.ts';
import { readDocument } from './read-document.ts';
import type { PlanBody } from './schema-document.ts';

/** What applying the files would do (schema §3). */
export interface PresentedPlan {
  /** The current schema's hash. */
  readonly hash: string;
  readonly changes: readonly Change[];
  /** The names that the apply has to allow. */
  readonly drops: readonly string[];
  readonly locks: readonly Lock[];
  readonly warnings: readonly string[];
}

interface PlanDeps {
  readonly database: Pick<Database, 'transaction'>;
  readonly cipher: ValueCipher;
}

/**
 * Plans an apply. It changes nothing and locks no collection. Throws 422 that names every problem that an apply would
 * refuse.
 */
export async function planSchema(
  { database, cipher }: PlanDeps,
  { schema: document, variables }: PlanBody,
  nowSec: number,
): Promise<PresentedPlan> {
  const files = await readDocument(document);
  return rollBack(database, async (query) => {
    const current = await readCurrentSchema(query, cipher);
    const plan = await computePlan(files, current, variables, nowSec);
    const after = plan.rebuildsViews ? await tryViews(query, plan.collections, plan.problems) : plan.collections.after;
    await checkAllRules(after, plan.problems);
    checkFilters(plan.webhooks, after, plan.problems);
    const counts = limitCounts(query);
    const notes = await checkStoredValues(plan, cipher, counts);
    plan.problems.throwIfAny();
    const changes = await countLosses(await describeChanges(plan), plan, counts);
    return {
      hash: await hashOf(current),
      changes,
      drops: dropsOf(changes),
      locks: await findLocks(plan, counts),
      warnings: [...notes, ...(await warningsOf(plan, after, await readCustomEvents(query)))],
    };
  });
}

/** Adds to `problems` the filters in the files that cannot be used with the collections. */
function checkFilters({ filters }: SchemaPlan['webhooks'], after: readonly Collection[], problems: Problems): void {
  for (const webhook of filters) {
    const problem = findFilterProblem({ ...webhook, owner: null }, after);
    if (problem !== undefined) problems.add(`webhooks.${webhook.name}.filter`, problem);
  }
}

/** Warnings about variables that the apply needs, and about changed collections' definitions. */
async function warningsOf(
  { collections, settings, webhooks }: SchemaPlan,
  after: Parameters<typeof warningsOfDefinition>[1],
  declared: Awaited<ReturnType<typeof readCustomEvents>>,
): Promise<string[]> {
  const unchanged = new Set(collections.kept.flatMap(({ before, after: now }) => (before === now ? [now.id] : [])));
  const warnings = [...settings.missing, ...webhooks.missing].map(([place, sentence]) => `${place} ${sentence}.`);
  for await (const collection of inSlices(after))
    if (!unchanged.has(collection.id)) warnings.push(...warningsOfDefinition(collection, after));
  for (const { name, events } of webhooks.filters)
    warnings.push(...findUnknownPatterns(events, after, declared).map((text) => `webhooks.${name}.events: ${text}`));
  return warnings;
}

/** Runs the work in a transaction and rolls it back. */
async function rollBack<T>(database: Pick<Database, 'transaction'>, work: (query: Query) => Promise<T>): Promise<T> {
  let result: { readonly value: T } | undefined;
  const end = new Error('rolled back');
  await database
    .transaction(async (query) => {
      result = { value: await work(query) };
      throw end;
    })
    .catch((error: unknown) => {
      if (error !== end) throw error;
    });
  if (!result) throw new Error('the work did not run');
  return result.value;
}
