import type { Cte } from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import { type Collection, type Field, fieldTypeOf } from '@recordbus/schema';

/** The values for a statement with several operations: lists with an entry for each. */
export interface GivenRows {
  readonly ids: readonly string[];
  /** The places in the batch, as JSON texts; null for writes outside one. */
  readonly batches: readonly (string | null)[];
  /** The versions that may be written; null for any. */
  readonly versions: readonly (string | null)[];
  /** The values by field, as texts; a field that no operation names has none. */
  readonly columns: ReadonlyMap<string, readonly (string | null)[]>;
}

/** The operations as rows in a statement. */
export interface GivenRowsSql {
  /** The CTE `given`: `id`, `batch`, `version`, the values, and `place`, the operation's position. */
  readonly cte: Cte;
  /** A field's value in the row `g`, as SQL. */
  valueOf(field: Field): string;
}

/** Composes the rows for the operations on a collection. Without `withValues` they have no values. */
export function givenRows(
  { fields }: Collection,
  parameters: Pick<NamedParameters<GivenRows>, 'named' | 'member'>,
  { withValues }: { readonly withValues: boolean },
): GivenRowsSql {
  const columns = withValues ? fields.map((field, n) => ({ field, name: `v${n}` })) : [];
  const names = new Map(columns.map(({ field, name }) => [field, name]));
  const lists = [
    parameters.named('ids', 'text[]'),
    parameters.named('batches', 'text[]'),
    parameters.named('versions', 'text[]'),
    // A shorter list, or none, is filled with nulls.
    ...columns.map(({ field }) => parameters.member('columns', field.name, 'text[]')),
  ];
  const given = ['id', 'batch', 'version', ...columns.map(({ name }) => name), 'place'];
  const rest = given.slice(1).map((name) => `u.${name}`);
  return {
    cte: {
      name: 'given',
      sql: `select u.id collate "C" as id, ${rest.join(', ')} from unnest(${lists.join(', ')}) with ordinality u(${given.join(', ')})`,
      isMaterialized: true,
    },
    valueOf: (field) => `g.${names.get(field)}::${fieldTypeOf(field).columnType(field)}`,
  };
}

/** Arranges the operations' values by field. */
export function columnsOfRows(rows: readonly ReadonlyMap<string, unknown>[]): GivenRows['columns'] {
  const names = new Set(rows.flatMap((row) => [...row.keys()]));
  return new Map([...names].map((name) => [name, rows.map((row) => textOf(row.get(name)))]));
}

/** A column's value in PostgreSQL's text form. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return `{${value.join(',')}}`;
  throw new Error('a column has no such value');
}
