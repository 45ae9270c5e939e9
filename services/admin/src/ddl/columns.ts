import {
  type Collection,
  comparedValue,
  type Field,
  fieldTypeOf,
  foreignKeyName,
  hasComparableValue,
  holdsRelations,
  isUnique,
  quoteIdentifier,
  relationIndexName,
  tableOf,
  uniqueIndexName,
} from '@recordbus/schema';
import { planDropLinks, planLinks } from './links.ts';

/** Returns a field's column definition. Never `not null`: setNull clears required fields too (records §7.1). */
export const columnDefinition = (field: Field): string =>
  `${quoteIdentifier(field.name)} ${fieldTypeOf(field).columnType(field)}`;

/** Plans an existing column's indexes, foreign key and links. */
export function planConstraints(collection: Collection, field: Field): string[] {
  return [
    ...(isUnique(field) ? [planUniqueIndex(collection, field)] : []),
    ...(field.collection === undefined ? [] : planRelation(collection, field, field.collection)),
  ];
}

/** Plans a unique field's index. It ignores null and the empty text (fields §2.6). */
export function planUniqueIndex(collection: Collection, field: Field): string {
  const name = quoteIdentifier(uniqueIndexName(collection, field));
  return `create unique index ${name} on ${tableOf(collection)} (${comparedValue(field)}) where ${hasComparableValue(field)}`;
}

/**
 * Plans a relation's index and foreign key, or its link table. The records service cascades itself, so the key has no
 * action; it guards against defects. It is deferrable because a cascade around a circle of relations has no valid
 * statement order.
 */
export function planRelation(collection: Collection, field: Field, target: string): string[] {
  if (holdsRelations(field)) return planLinks(collection, field, target);
  const table = tableOf(collection);
  const column = quoteIdentifier(field.name);
  return [
    `create index ${quoteIdentifier(relationIndexName(collection, field))} on ${table} (${column})`,
    `alter table ${table} add constraint ${quoteIdentifier(foreignKeyName(collection, field))} foreign key (${column}) references ${tableOf({ name: target })} (id) deferrable initially immediate`,
  ];
}

/** Reverses `planRelation`. */
export const planDropRelation = (collection: Collection, field: Field): string[] =>
  holdsRelations(field)
    ? [planDropLinks(collection, field)]
    : [
        `drop index records.${quoteIdentifier(relationIndexName(collection, field))}`,
        `alter table ${tableOf(collection)} drop constraint ${quoteIdentifier(foreignKeyName(collection, field))}`,
      ];
