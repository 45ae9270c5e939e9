import type { Problems } from '@recordbus/schema';
import { type AppliedMigration, byNumber, digestOf, numberOf } from './migrations-table.ts';
import type { MigrationFile } from './schema-document.ts';

/**
 * Returns the migrations that have not run yet, in order. Adds any migration's problems to `problems` (schema §5.2).
 */
export function planMigrations(
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
  problems: Problems,
): readonly MigrationFile[] {
  const byNumberOf = new Map(applied.map((migration) => [numberOf(migration), migration]));
  const numbers = new Set<number>();
  const pending = files.filter((file) => {
    const place = `migrations.${file.name}`;
    const number = numberOf(file);
    if (numbers.has(number)) problems.add(place, `has the number ${number}, as another migration has`);
    numbers.add(number);
    const ran = byNumberOf.get(number);
    if (!ran) return true;
    if (ran.name !== file.name) problems.add(place, `has the number ${number}, with which ${ran.name} ran`);
    else if (ran.digest !== digestOf(file.sql)) problems.add(place, 'ran and has changed since: add another migration');
    return false;
  });
  return [...pending].sort(byNumber);
}
