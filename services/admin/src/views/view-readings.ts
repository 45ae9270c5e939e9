import type { Query } from '@recordbus/database';
import { isHidden } from '@recordbus/query';
import { type Collection, type Field, fieldTypeOf, type Problems } from '@recordbus/schema';
import { compareFields } from '../ddl/compare-fields.ts';

/** A column or table that a view reads, from the catalog. */
export interface ViewReading {
  readonly view: string;
  readonly collection: string;
  /** Null for the table itself; each view that reads a table has one such row for it. */
  readonly column: string | null;
}

/** Loads all columns and tables that views read. */
export const loadViewReadings = (query: Query): Promise<ViewReading[]> =>
  query<ViewReading>({
    text: `select distinct v.relname as view, t.relname as collection, a.attname as column
      from pg_depend d
      join pg_rewrite r on r.oid = d.objid
      join pg_class v on v.oid = r.ev_class and v.relkind = 'v' and v.relnamespace = 'records'::regnamespace
      join pg_class t on t.oid = d.refobjid and t.oid <> v.oid
      left join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid and d.refobjsubid <> 0
      where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
      order by v.relname`,
    values: [],
  });

/** Returns the views that read a collection directly. */
export const readersOf = (collection: string, readings: readonly ViewReading[]): string[] => [
  ...new Set(readings.filter((reading) => reading.collection === collection).map(({ view }) => view)),
];

/** Returns the views that depend on a collection, each after those that it depends on. */
export function dependentsOf(collection: string, readings: readonly ViewReading[]): string[] {
  const ordered: string[] = [];
  const visit = (name: string) => {
    for (const view of readersOf(name, readings)) if (!ordered.includes(view)) visit(view);
    if (name !== collection) ordered.unshift(name);
  };
  visit(collection);
  return ordered;
}

/**
 * Adds to `problems` each field that a view reads and that the change drops, renames, hides or gives another column
 * type (collections §6.6).
 */
export function refuseReadFields(
  before: Collection,
  after: Collection,
  readings: readonly ViewReading[],
  problems: Problems,
): void {
  const viewsOf = ({ name }: Field) =>
    readings.filter((reading) => reading.collection === before.name && reading.column === name).map(({ view }) => view);
  const refuse = (field: Field, place: string, what: string) => {
    const views = viewsOf(field);
    if (views.length > 0) problems.add(place, `${what}: the view ${views.join(', ')} reads it`);
  };
  const { dropped, kept } = compareFields(before, after);
  for (const field of dropped) refuse(field, `fields.${field.name}`, 'cannot be dropped');
  for (const { old, now } of kept) {
    if (old.name !== now.name) refuse(old, `fields.${now.name}.name`, `cannot be renamed from ${old.name}`);
    if (isHidden(now) && !isHidden(old)) refuse(old, `fields.${now.name}.options`, 'cannot be hidden');
    if (fieldTypeOf(now).columnType(now) !== fieldTypeOf(old).columnType(old))
      refuse(old, `fields.${now.name}.options`, 'cannot get another column type');
  }
}
