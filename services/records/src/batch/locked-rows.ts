import { type Cte, versionOf } from '@recordbus/journal';
import { type Collection, tableOf } from '@recordbus/schema';

/**
 * The CTEs `old`, the locked rows with the ids (SQL) before the write, and `admitted`, the ids for which a condition on
 * `old` holds.
 */
export const lockedRows = (collection: Collection, ids: string, condition: string): readonly Cte[] => [
  {
    name: 'old',
    sql: `select t.* from ${tableOf(collection)} t where t.id = any(${ids}) order by t.id for update`,
    isMaterialized: true,
  },
  { name: 'admitted', sql: `select old.id from old where ${condition}`, isMaterialized: true },
];

/** Joins to `old`: each admitted row's operation `g`. */
export const admittedRows = ' join admitted on admitted.id = old.id join given g on g.id = old.id';

/** The condition that an operation `g` may write the version in the row `old`. */
export const admitsVersion = `(g.version is null or g.version = ${versionOf('old')})`;
