import { planHistoryTable } from '@recordbus/journal';
import { type Collection, type Field, fieldTypeOf, quoteIdentifier, tableOf, uniqueIndexName } from '@recordbus/schema';
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
    ...(added.length === 0
      ? []
      : [`alter table ${table} ${added.map((field) => `add column ${columnDefinition(field)}`).join(', ')}`]),
    ...added.flatMap((field) => planBesideColumn(after, field)),
    ...planFileTriggers(after),
    ...(after.historyEnabled && !before.historyEnabled ? [planHistoryTable(after)] : []),
  ];
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
      `alter table ${tableOf(collection)} alter column ${column} type ${columnType} using ${columnType === 'jsonb' ? listOf(column) : `${column} ->> 0`}`,
    );
  }
  if (isUnique(old) && !isUnique(now))
    statements.push(`drop index records.${quoteIdentifier(uniqueIndexName(collection, now))}`);
  if (isUnique(now) && !isUnique(old)) statements.push(planUniqueIndex(collection, now));
  return statements;
}

/** A single value as a list of one; no value stays none. */
const listOf = (column: string) => `case when ${column} is not null then jsonb_build_array(${column}) end`;
