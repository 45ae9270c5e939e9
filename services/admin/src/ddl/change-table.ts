import { planHistoryTable } from '@recordbus/journal';
import {
  type Collection,
  type Field,
  fieldTypeOf,
  quoteIdentifier,
  quoteLiteral,
  tableOf,
  uniqueIndexName,
} from '@recordbus/schema';
import { columnDefinition, isUnique, planBesideColumn, planUniqueIndex } from './columns.ts';
import { compareFields, type FieldPair } from './compare-fields.ts';
import { planFilesOfDropped, planFileTriggers, planNoFileTriggers } from './file-triggers.ts';

/**
 * Turns the table of a collection as it was into that of the collection as it is to be, all data kept but that of
 * dropped fields. What the data would stand against has to be looked for before (`planChecks`).
 */
export function planChange(before: Collection, after: Collection): string[] {
  const { dropped, kept, added } = compareFields(before, after);
  const table = tableOf(after);
  return [
    ...planNoFileTriggers(before),
    ...dropped.flatMap((field) => planFilesOfDropped(before, field)),
    ...dropped.map((field) => `alter table ${tableOf(before)} drop column ${quoteIdentifier(field.name)}`),
    ...(before.name === after.name ? [] : [`alter table ${tableOf(before)} rename to ${quoteIdentifier(after.name)}`]),
    ...planRenames(table, kept),
    ...kept.flatMap((pair) => planOptions(after, pair)),
    ...planAdded(table, added),
    ...added.flatMap((field) => planBesideColumn(after, field)),
    ...planFileTriggers(after),
    ...(after.historyEnabled && !before.historyEnabled ? [planHistoryTable(after)] : []),
  ];
}

/** New columns; where no value is more than null, the rows get it by a default, which writes none of them anew. */
function planAdded(table: string, added: readonly Field[]): string[] {
  if (added.length === 0) return [];
  const columns = added.map((field) => {
    const empty = emptyOf(field);
    return `add column ${columnDefinition(field)}${empty === undefined ? '' : ` default ${empty}`}`;
  });
  const filled = added.filter((field) => emptyOf(field) !== undefined);
  return [
    `alter table ${table} ${columns.join(', ')}`,
    ...filled.map(({ name }) => `alter table ${table} alter column ${quoteIdentifier(name)} drop default`),
  ];
}

/** What a column holds where there is no value, in SQL; undefined when that is null. */
function emptyOf(field: Field): string | undefined {
  const value = fieldTypeOf(field).emptyValue?.(field) ?? null;
  return value === null ? undefined : quoteLiteral(String(value));
}

/** Columns that take each other's names go by a name that no field can have. */
function planRenames(table: string, kept: readonly FieldPair[]): string[] {
  const renamed = kept.filter(({ old, now }) => old.name !== now.name);
  const oldNames = new Set(renamed.map(({ old }) => old.name));
  const rename = (from: string, to: string) =>
    `alter table ${table} rename column ${quoteIdentifier(from)} to ${quoteIdentifier(to)}`;
  const aside = (field: Field) => `aside:${field.id}`;
  const [crossing, free] = [
    renamed.filter(({ now }) => oldNames.has(now.name)),
    renamed.filter(({ now }) => !oldNames.has(now.name)),
  ];
  return [
    ...crossing.map(({ old }) => rename(old.name, aside(old))),
    ...free.map(({ old, now }) => rename(old.name, now.name)),
    ...crossing.map(({ old, now }) => rename(aside(old), now.name)),
  ];
}

function planOptions(collection: Collection, { old, now }: FieldPair): string[] {
  const statements: string[] = [];
  const columnType = fieldTypeOf(now).columnType(now);
  if (columnType !== fieldTypeOf(old).columnType(old)) {
    const column = quoteIdentifier(now.name);
    statements.push(
      `alter table ${tableOf(collection)} alter column ${column} type ${columnType} using ${columnType === 'jsonb' ? listOf(now) : `${column} ->> 0`}`,
    );
  }
  if (isUnique(old) && !isUnique(now))
    statements.push(`drop index records.${quoteIdentifier(uniqueIndexName(collection, now))}`);
  if (isUnique(now) && !isUnique(old)) statements.push(planUniqueIndex(collection, now));
  return statements;
}

/** A single value as a list of one. */
function listOf(field: Field): string {
  const column = quoteIdentifier(field.name);
  const empty = emptyOf(field);
  return `case when ${column} is not null then jsonb_build_array(${column})${empty === undefined ? '' : ` else ${empty}`} end`;
}
