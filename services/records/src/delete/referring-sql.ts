import { type Collection, type Field, holdsRelations, linkTableOf, quoteIdentifier, tableOf } from '@recordbus/schema';

/** A relation, and its targets' ids (SQL: text[]). */
export interface Reference {
  readonly field: Field;
  readonly ids: string;
}

/**
 * The condition that a collection's row `t` refers to a target by one of the relations. Indexes on the columns or on
 * the links find the rows.
 */
export function refersToAny(collection: Collection, references: readonly Reference[]): string {
  const isReferring = references.map((reference) => refersTo(reference)).join(' or ');
  if (!references.some(({ field }) => holdsRelations(field))) return isReferring;
  // No index serves an OR with a sub-select. The lists are checked too, because a row may lose a link while the
  // statement waits for it.
  return `t.id in (${references.map((reference) => selectOwners(collection, reference)).join(' union all ')}) and (${isReferring})`;
}

/** The condition on the value in the row `t` itself. */
function refersTo({ field, ids }: Reference): string {
  const column = `t.${quoteIdentifier(field.name)}`;
  return holdsRelations(field)
    ? `exists (select from jsonb_array_elements_text(${column}) e(id) where e.id = any(${ids}))`
    : `${column} = any(${ids})`;
}

const selectOwners = (collection: Collection, { field, ids }: Reference): string =>
  holdsRelations(field)
    ? `select l.owner from ${linkTableOf(collection, field)} l where l.target = any(${ids})`
    : `select o.id from ${tableOf(collection)} o where o.${quoteIdentifier(field.name)} = any(${ids})`;

/** The value of a relation in the row `t` without the targets: null, or the others as a list in their order. */
export function clearedSql({ field, ids }: Reference): string {
  const column = `t.${quoteIdentifier(field.name)}`;
  return holdsRelations(field)
    ? `(select coalesce(jsonb_agg(e.id order by e.place), '[]')
    from jsonb_array_elements_text(${column}) with ordinality e(id, place) where e.id <> all(${ids}))`
    : `case when ${refersTo({ field, ids })} then null else ${column} end`;
}
