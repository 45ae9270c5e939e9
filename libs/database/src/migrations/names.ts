import { readdirSync } from 'node:fs';

/**
 * The names of all migrations, in order. They are those of the files, so that a start with nothing to migrate loads none
 * of them.
 */
export const migrationNames: readonly string[] = readdirSync(import.meta.dirname)
  .map((file) => /^(\d{4}-[a-z0-9-]+)\.\w+$/.exec(file)?.[1])
  .filter((name) => name !== undefined)
  .sort();
