import { planHistoryTable } from '@recordbus/journal';
import {
  type Collection,
  type Field,
  fieldTypeOf,
  holdsRelations,
  isComparedAlike,
  isUnique,
  quoteIdentifier,
  quoteLiteral,
  tableOf,
  uniqueIndexName,
} from '@recordbus/schema';
import { columnDefinition, planConstraints, planDropRelation, planRelation, planUniqueIndex } from './columns.ts';
import { compareFields, type FieldPair } from './compare-fields.ts';
import { planDropFileTriggers, planFileTriggers, planRemoveFilesOfField } from './file-triggers.ts';
import { hasSameLinks, planDropLinkTriggers, planLinkTriggers } from './link-triggers.ts';
import { planDropLinks } from './links.ts';
import { planLostSearchTables, planSearchFunctions } from './search-tables.ts';

/**
 * Plans the statements that change a collection's table. All data stays, except for dropped fields. Run the checks from
 * `planChecks` first: they find rows that violate the new definition.
 */
export function planChange(before: Collection, after: Collection): string[] {
  const { dropped, kept, added } = compareFields(before, after);
  const table = tableOf(after);
  const keepsLinks = hasSameLinks(before, after);
  return [
    ...planDropFileTriggers(before),
    ...planLostSearchTables(before, after),
    ...(keepsLinks ? [] : planDropLinkTriggers(before)),
    ...dropped.flatMap((field) => planRemoveFilesOfField(before, field)),
    ...dropped.filter(holdsRelations).map((field) => planDropLinks(before, field)),
    ...dropped.map((field) => `alter table ${tableOf(before)} drop column ${quoteIdentifier(field.name)}`),
    ...(before.name === after.name ? [] : [`alter table ${tableOf(before)} rename to ${quoteIdentifier(after.name)}`]),
    ...planRenames(table, kept),
    ...kept.flatMap((pair) => planOptions(after, pair)),
    ...planAdded(table, added),
    ...added.flatMap((field) => planConstraints(after, field)),
    ...planFileTriggers(after),
    ...planSearchFunctions(before, after),
    ...(keepsLinks ? [] : planLinkTriggers(after)),
    ...(after.historyEnabled && !before.historyEnabled ? [planHistoryTable(after)] : []),
  ];
}

/**
 * Adds columns. If the empty value is not null, existing rows get it from a temporary default, which rewrites no row.
 */
function planAdded(table: string, added: readonly Field[]): string[] {
  if (added.length === 0) return [];
  const columns = added.map((field) => {
    const empty = emptyLiteralOf(field);
    return `add column ${columnDefinition(field)}${empty === undefined ? '' : ` default ${empty}`}`;
  });
  const filled = added.filter((field) => emptyLiteralOf(field) !== undefined);
  return [
    `alter table ${table} ${columns.join(', ')}`,
    ...filled.map(({ name }) => `alter table ${table} alter column ${quoteIdentifier(name)} drop default`),
  ];
}

/** Returns the SQL literal that a column holds for no value; undefined for null. */
function emptyLiteralOf(field: Field): string | undefined {
  const value = fieldTypeOf(field).emptyValue?.(field) ?? null;
  return value === null ? undefined : quoteLiteral(String(value));
}

/** Renames columns. Columns that swap names get a temporary name, which no field can have. */
function planRenames(table: string, kept: readonly FieldPair[]): string[] {
  const renamed = kept.filter(({ old, now }) => old.name !== now.name);
  const oldNames = new Set(renamed.map(({ old }) => old.name));
  const rename = (from: string, to: string) =>
    `alter table ${table} rename column ${quoteIdentifier(from)} to ${quoteIdentifier(to)}`;
  const temporaryNameOf = (field: Field) => `aside:${field.id}`;
  const [swapped, free] = [
    renamed.filter(({ now }) => oldNames.has(now.name)),
    renamed.filter(({ now }) => !oldNames.has(now.name)),
  ];
  return [
    ...swapped.map(({ old }) => rename(old.name, temporaryNameOf(old))),
    ...free.map(({ old, now }) => rename(old.name, now.name)),
    ...swapped.map(({ old, now }) => rename(temporaryNameOf(old), now.name)),
  ];
}

function planOptions(collection: Collection, { old, now }: FieldPair): string[] {
  const statements: string[] = [];
  const columnType = fieldTypeOf(now).columnType(now);
  if (columnType !== fieldTypeOf(old).columnType(old)) {
    const column = quoteIdentifier(now.name);
    const { collection: target } = now;
    statements.push(
      ...(target === undefined ? [] : planDropRelation(collection, { ...old, name: now.name })),
      `alter table ${tableOf(collection)} alter column ${column} type ${columnType} using ${columnType === 'jsonb' ? listOf(now) : `${column} ->> 0`}`,
      ...(target === undefined ? [] : planRelation(collection, now, target)),
    );
  }
  const isIndexKept = isUnique(old) && isUnique(now) && isComparedAlike(old, now);
  if (isUnique(old) && !isIndexKept)
    statements.push(`drop index records.${quoteIdentifier(uniqueIndexName(collection, now))}`);
  if (isUnique(now) && !isIndexKept) statements.push(planUniqueIndex(collection, now));
  return statements;
}

/** Returns the SQL expression that turns a single value into a list with one entry. */
function listOf(field: Field): string {
  const column = quoteIdentifier(field.name);
  const empty = emptyLiteralOf(field);
  return `case when ${column} is not null then jsonb_build_array(${column})${empty === undefined ? '' : ` else ${empty}`} end`;
}
