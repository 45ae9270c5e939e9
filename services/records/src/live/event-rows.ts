import { versionOf } from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import {
  type Collection,
  encryptedFieldsOf,
  fieldTypeOf,
  quoteIdentifier,
  recordColumns,
  tableOf,
} from '@recordbus/schema';

/** Alias of the rows of events, and columns whose names no field can have. */
export const eventAlias = 'event';
/** The number of the event in its batch. */
export const eventNumber = `${eventAlias}."@n"`;
/** Whether the row is the record after the write; false for the record before it. */
export const isAfter = `${eventAlias}."@after"`;

interface EventColumn {
  /** The member of the record in events. */
  readonly name: string;
  /** The column of the table, quoted. */
  readonly column: string;
  /** Its type, with the collation. */
  readonly sqlType: string;
  /** Whether events leave it out. */
  readonly isStoredOnly: boolean;
}

/** The columns of a record that an event has. */
function eventColumns(collection: Collection): readonly EventColumn[] {
  const fields = new Map(collection.fields.map((field) => [field.name, field]));
  const encrypted = new Set(encryptedFieldsOf(collection).map(({ name }) => name));
  return recordColumns(collection).map(({ name, column }) => {
    const field = column === quoteIdentifier(name) ? fields.get(name) : undefined;
    const sqlType = field ? fieldTypeOf(field).columnType(field) : (systemTypes[column] ?? 'bigint');
    return { name, column, sqlType, isStoredOnly: encrypted.has(name) };
  });
}

const systemTypes: Readonly<Record<string, string>> = { id: 'text collate "C"', is_anonymous: 'boolean' };

/** The names of the members that every event of the collection has, in order. */
export const eventMembers = (collection: Collection): readonly string[] =>
  eventColumns(collection).flatMap(({ name, isStoredOnly }) => (isStoredOnly ? [] : [name]));

/** The rows of events for a run of a statement. */
export interface EventRows {
  /** JSON text of a list of `[n, isAfter, record]`, and their number. */
  readonly given: string;
  readonly givenCount: number;
  /** JSON text of a list of `[n, id]` of stored records, and their number. */
  readonly stored: string;
  readonly storedCount: number;
}

/**
 * A select of rows like those of the table, with `"@n"`, `"@after"` and `"@version"`: of the given records, and of
 * stored ones, which have their version. The limits give the planner the number of rows. Otherwise it would expect 200,
 * and read whole tables.
 */
export function selectEventRows(collection: Collection, parameters: Pick<NamedParameters<EventRows>, 'named'>): string {
  const columns = eventColumns(collection);
  const inEvents = columns.filter(({ isStoredOnly }) => !isStoredOnly);
  const definitions = inEvents.map(({ name, sqlType }) => `${quoteIdentifier(name)} ${sqlType}`);
  const ofEvent = columns.map(({ name, column, sqlType, isStoredOnly }) =>
    isStoredOnly ? `null::${withoutCollation(sqlType)} as ${column}` : `r.${quoteIdentifier(name)} as ${column}`,
  );
  const listed = (list: 'given' | 'stored', count: 'givenCount' | 'storedCount') =>
    `select * from json_array_elements(${parameters.named(list, 'json')}) limit ${parameters.named(count, 'bigint')}`;
  const ofTable = columns.map(({ column }) => `t.${column}`);
  return `select (g.v ->> 0)::integer as "@n", (g.v ->> 1)::boolean as "@after", null::text as "@version", ${ofEvent.join(', ')}
  from (${listed('given', 'givenCount')}) g(v) cross join lateral json_to_record(g.v -> 2) r(${definitions.join(', ')})
  union all
  select (s.v ->> 0)::integer, true, ${versionOf('t')}, ${ofTable.join(', ')}
  from (${listed('stored', 'storedCount')}) s(v) join ${tableOf(collection)} t on t.id = s.v ->> 1`;
}

const withoutCollation = (sqlType: string): string => sqlType.replace(/ collate .*/, '');
