import {
  type Collection,
  type Field,
  fieldTypeOf,
  foreignKeyName,
  quoteIdentifier,
  relationIndexName,
  tableOf,
  uniqueIndexName,
} from '@recordbus/schema';

/** A field's column as `create table` and `add column` take it. Never `not null`: setNull clears a required field too. */
export const columnDefinition = (field: Field): string =>
  `${quoteIdentifier(field.name)} ${fieldTypeOf(field).columnType(field)}`;

/** Is the field to have no value twice? */
export const isUnique = (field: Field): boolean => field.options.unique === true;

/** Makes the indexes and the foreign key that belong to a column which is there. */
export function planBesideColumn(collection: Collection, field: Field): string[] {
  return [
    ...(isUnique(field) ? [planUniqueIndex(collection, field)] : []),
    ...(field.collection === undefined ? [] : planRelation(collection, field, field.collection)),
  ];
}

/** Unique over the values that compare: neither null nor the empty text (contract §8). */
export function planUniqueIndex(collection: Collection, field: Field): string {
  const name = quoteIdentifier(uniqueIndexName(collection, field));
  return `create unique index ${name} on ${tableOf(collection)} (${comparedValue(field)}) where ${hasComparableValue(field)}`;
}

/** SQL of what a unique field compares: addresses differ in more than case (contract §8). */
export const comparedValue = (field: Field): string =>
  field.type === 'email' ? `lower(${quoteIdentifier(field.name)})` : quoteIdentifier(field.name);

/** SQL condition of the rows whose value a unique field compares. */
export function hasComparableValue(field: Field): string {
  const column = quoteIdentifier(field.name);
  return isText(field) ? `${column} <> ''` : `${column} is not null`;
}

/** Is the column text in SQL, so that its empty value may be the empty text? */
export const isText = (field: Field): boolean => fieldTypeOf(field).columnType(field).startsWith('text');

/**
 * The foreign key is the safety net under the cascade that the records service does itself, hence no action of its
 * own. Deferrable, since a cascade around a circle of relations has no order in which every statement leaves it whole.
 */
function planRelation(collection: Collection, field: Field, target: string): string[] {
  const table = tableOf(collection);
  const column = quoteIdentifier(field.name);
  return [
    `create index ${quoteIdentifier(relationIndexName(collection, field))} on ${table} (${column})`,
    `alter table ${table} add constraint ${quoteIdentifier(foreignKeyName(collection, field))} foreign key (${column}) references ${tableOf({ name: target })} (id) deferrable initially immediate`,
  ];
}
