import { createProblems, type Problems } from '@recordbus/schema';
import type { CurrentSchema } from './current-schema.ts';
import { planMigrations } from './plan-migrations.ts';
import { type PlannedSettings, planSettings } from './plan-settings.ts';
import { type PlannedWebhooks, planWebhooks } from './plan-webhooks.ts';
import type { SchemaFiles } from './read-document.ts';
import { refuseMigrations } from './read-migration.ts';
import type { Variables } from './read-text.ts';
import type { MigrationFile } from './schema-document.ts';
import { type CollectionChanges, computeCollections } from './target-collections.ts';

/** An apply's changes. Views, rules and stored values are not checked yet. */
export interface SchemaPlan {
  readonly collections: CollectionChanges;
  readonly webhooks: PlannedWebhooks;
  readonly settings: PlannedSettings;
  /** The migrations to run, in order. */
  readonly migrations: readonly MigrationFile[];
  /** Whether every view has to be built again. */
  readonly rebuildsViews: boolean;
  readonly problems: Problems;
}

/** Compares schema files with the current schema. Throws 422 that names what is wrong. */
export async function computePlan(
  files: SchemaFiles,
  current: CurrentSchema,
  variables: Variables,
  nowSec: number,
): Promise<SchemaPlan> {
  const problems = createProblems();
  const collections = await computeCollections(files.collections, current.collections, nowSec, problems);
  const webhooks = await planWebhooks(files.webhooks, current.webhooks, { variables, problems });
  const settings = planSettings(files.settings, current.settings, {
    collections: collections.after,
    variables,
    problems,
  });
  const migrations = planMigrations(files.migrations, current.migrations, problems);
  await refuseMigrations(migrations, collections.after, problems);
  problems.throwIfAny();
  return { collections, webhooks, settings, migrations, rebuildsViews: rebuildsViews(collections), problems };
}

/** Whether the change may affect views. */
function rebuildsViews({ created, kept, dropped, after }: CollectionChanges): boolean {
  const isView = ({ type }: { readonly type: string }) => type === 'view';
  if (!after.some(isView)) return dropped.some(isView);
  return (
    dropped.length > 0 ||
    created.some(isView) ||
    kept.some(
      ({ before, after: now }) =>
        before.name !== now.name || before.fields !== now.fields || before.viewQuery !== now.viewQuery,
    )
  );
}
