import { type Collection, encryptedFieldsOf, quoteIdentifier, quoteLiteral, tableOf } from '@recordbus/schema';
import type { Cte } from './cte.ts';
import { versionAssignments } from './version-sql.ts';

/** A column and its value in SQL. */
export interface ColumnSql {
  readonly name: string;
  readonly value: string;
}

/** What must hold for a new row, the row `draft`. If it does not hold, the row is not written. */
export interface DraftCheck {
  /** A CTE that reads `draft`. */
  readonly cte?: Cte | undefined;
  /** A join that leaves out other rows. */
  readonly join?: string;
  readonly where?: string | undefined;
  /** Columns in `draft` that are not written. */
  readonly columns?: readonly ColumnSql[];
}

export interface NewRows {
  readonly columns: readonly ColumnSql[];
  /** Where the values come from (a FROM clause without FROM). Without it they are one row. */
  readonly from?: string | undefined;
  readonly check?: DraftCheck | undefined;
  /** The index columns, in parentheses; a row that already exists there is skipped. Empty for every index. */
  readonly skips?: string | undefined;
}

/** Rows to update: those in the CTE `old`. Their version advances. */
export interface ChangedRows {
  readonly set: readonly ColumnSql[];
  /** Joins to `old`. */
  readonly joins?: string;
  /** Conditions, each after `and`. */
  readonly conditions?: string;
}

/** Rows to delete, `t`. */
export interface GoneRows {
  /** CTEs that the condition reads, with their joins. */
  readonly using?: string;
  readonly where: string;
}

/** The columns. The statement fails if an encrypted field has been decrypted since it was composed. */
function stillEncrypted(collection: Collection, columns: readonly ColumnSql[]): readonly ColumnSql[] {
  const encrypted = new Map(encryptedFieldsOf(collection).map((field) => [quoteIdentifier(field.name), field.id]));
  if (encrypted.size === 0) return columns;
  return columns.map(({ name, value }) => {
    const id = encrypted.get(name);
    if (id === undefined) return { name, value };
    return { name, value: `system.still_encrypted(${value}, ${quoteLiteral(collection.id)}, ${quoteLiteral(id)})` };
  });
}

/** The CTE `new` with the inserted rows, after the CTEs that check them. */
export function insertRows(
  collection: Collection,
  { columns: given, from, check, skips }: NewRows,
): { readonly before: readonly (Cte | undefined)[]; readonly sql: string } {
  const columns = stillEncrypted(collection, given);
  const names = columns.map(({ name }) => name).join(', ');
  const insert = (rows: string) =>
    `insert into ${tableOf(collection)} (${names})\n  ${rows}${skips === undefined ? '' : `\n  on conflict ${skips} do nothing`}\n  returning *`;
  const values = columns.map(({ value }) => value).join(', ');
  if (!check)
    return { before: [], sql: insert(from === undefined ? `values (${values})` : `select ${values}\n  from ${from}`) };
  const drafted = [...columns, ...(check.columns ?? [])].map(({ name, value }) => `${value} as ${name}`).join(', ');
  const draft = `select ${drafted}${from === undefined ? '' : ` from ${from}`}`;
  const { cte, join = '', where } = check;
  // One row that only a condition reads needs no CTE.
  const isInline = cte === undefined && from === undefined;
  const source = `select ${columns.map(({ name }) => `draft.${name}`).join(', ')}
  from ${isInline ? `(${draft}) ` : ''}draft${join}${where === undefined ? '' : `\n  where ${where}`}`;
  return { before: isInline ? [] : [{ name: 'draft', sql: draft, isMaterialized: true }, cte], sql: insert(source) };
}

/** Updates the rows in `old`. */
export function updateRows(collection: Collection, { set, joins = '', conditions = '' }: ChangedRows): string {
  const values = stillEncrypted(collection, set).map(({ name, value }) => `${name} = ${value}, `);
  return `update ${tableOf(collection)} t set ${values.join('')}${versionAssignments('t')}
  from old${joins}
  where t.id = old.id${conditions}
  returning t.*`;
}

/** Deletes rows. */
export const deleteRows = (collection: Collection, { using, where }: GoneRows): string =>
  `delete from ${tableOf(collection)} t${using === undefined ? '' : ` using ${using}`}\n  where ${where}\n  returning t.*`;
