import { lastBeforeSchema, ownMigrations, schemaName } from '../migrations/migrations.ts';

/** A database's migrations compared to this version's. */
export interface TableVersion {
  readonly applied: readonly string[];
  /** Migrations from a newer version. */
  readonly unknown: readonly string[];
  /** Whether this version cannot run on the tables because a newer one removed something that it needs. */
  readonly isTooNew: boolean;
  /** Migrations that the next start runs. */
  readonly missing: readonly string[];
  /** Why this version cannot migrate the tables, and what to do; undefined if it can. */
  readonly tooOld: { readonly reason: string; readonly remedy: string } | undefined;
}

/** Compares a database's or a backup's migrations, by name, with this version's. */
export function compareTables(applied: readonly string[], names = ownMigrations.names): TableVersion {
  const earlier = applied.filter((name) => name < schemaName);
  const counted = applied.filter((name) => name >= schemaName);
  // `schema.sql` makes the same tables.
  if (earlier.includes(lastBeforeSchema)) counted.push(schemaName);
  const isTooOld = earlier.length > 0 && !counted.includes(schemaName);
  const unknown = counted.filter((name) => !names.includes(name));
  const missing = names.filter((name) => !counted.includes(name));
  return {
    applied,
    unknown,
    isTooNew: unknown.length > 0 && (missing.length > 0 || unknown.some((name) => needsNewer(name, names))),
    missing,
    tooOld: isTooOld
      ? {
          reason: `The tables are too old: they end with ${earlier.toSorted().at(-1)}, and this version needs ${lastBeforeSchema}.`,
          remedy: `Start the version that ends with ${lastBeforeSchema} once, then this one (docs/operations.md, Upgrade).`,
        }
      : undefined,
  };
}

/**
 * Whether a migration leaves only code that has newer migrations than these. One that removes something ends with
 * `-needs-<number>`, the last migration of the oldest version that no longer uses it; the others only add.
 */
function needsNewer(name: string, names: readonly string[]): boolean {
  const needed = /-needs-(\d{4})$/.exec(name)?.[1];
  return needed !== undefined && !names.some((own) => own.slice(0, 4) >= needed);
}
