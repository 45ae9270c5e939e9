import { type Collection, fieldTypeOf, quoteIdentifier, recordColumns } from '@recordbus/schema';
import type { NamedParameters } from './parameters.ts';

/** The event rows' alias, and columns whose names no field can have. */
export const eventAlias = 'event';
/** The event's number in its batch. */
export const eventNumber = `${eventAlias}."@n"`;
/** Whether the row is the record after the write; false for the record before it. */
export const isAfter = `${eventAlias}."@after"`;

interface EventColumn {
  /** The record's member in events. */
  readonly name: string;
  /** The table's column, quoted. */
  readonly column: string;
  /** Its type, with the collation. */
  readonly sqlType: string;
}

/** A record's columns, its encrypted fields included. */
function eventColumns(collection: Collection): readonly EventColumn[] {
  const fields = new Map(collection.fields.map((field) => [field.name, field]));
  return recordColumns(collection).map(({ name, column }) => {
    const field = column === quoteIdentifier(name) ? fields.get(name) : undefined;
    const sqlType = field ? fieldTypeOf(field).columnType(field) : (systemTypes[column] ?? 'bigint');
    return { name, column, sqlType };
  });
}

const systemTypes: Readonly<Record<string, string>> = { id: 'text collate "C"', is_anonymous: 'boolean' };

/** The event rows for a statement's run. */
export interface EventRows {
  /** JSON text of a list of `[n, isAfter, record]`, and their number. */
  readonly given: string;
  readonly givenCount: number;
}

/**
 * Selects the given records as rows like the table's, with `"@n"` and `"@after"`. The limit gives the planner the
 * number of rows. Otherwise it would expect 200, and read whole tables.
 */
export function selectEventRows(collection: Collection, parameters: Pick<NamedParameters<EventRows>, 'named'>): string {
  const columns = eventColumns(collection);
  const definitions = columns.map(({ name, sqlType }) => `${quoteIdentifier(name)} ${sqlType}`);
  const values = columns.map(({ name, column }) => `r.${quoteIdentifier(name)} as ${column}`);
  return `select (g.v ->> 0)::integer as "@n", (g.v ->> 1)::boolean as "@after", ${values.join(', ')}
  from (select * from json_array_elements(${parameters.named('given', 'json')}) limit ${parameters.named('givenCount', 'bigint')}) g(v)
    cross join lateral json_to_record(g.v -> 2) r(${definitions.join(', ')})`;
}
