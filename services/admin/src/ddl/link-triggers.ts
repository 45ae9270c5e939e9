import {
  type Collection,
  type Field,
  holdsRelations,
  linkFunctionOf,
  linkTableOf,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import { checkTargets, planTargetTriggers, targetTriggers } from './target-checks.ts';

/**
 * Plans the triggers that keep a collection's links, and their function. As triggers they work for every writer.
 *
 * Links are deleted before their record. The foreign key to the targets is checked after the statement, in any order,
 * and by then the links of a record that is deleted with its target must be gone.
 */
export function planLinkTriggers(collection: Collection): string[] {
  const fields = collection.fields.filter(holdsRelations);
  if (fields.length === 0) return [];
  const table = tableOf(collection);
  const keep = linkFunctionOf(collection);
  const each = (plan: (collection: Collection, field: Field) => string) =>
    fields.map((field) => plan(collection, field)).join('\n');
  return [
    `create function ${keep}() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
${each(dropLinks)}
    return old;
  elsif tg_when = 'BEFORE' then
${each(checkTargets)}
    return new;
  elsif tg_op = 'INSERT' then
${each(addLinks)}
  else
${each(changeLinks)}
  end if;
  return null;
end $$`,
    ...planTargetTriggers(table, fields, keep),
    `create trigger links_added after insert on ${table} referencing new table as fresh
   for each statement execute function ${keep}()`,
    `create trigger links_changed after update on ${table} referencing old table as stale new table as fresh
   for each statement execute function ${keep}()`,
    `create trigger links_dropped before delete on ${table} for each row execute function ${keep}()`,
  ];
}

const dropLinks = (collection: Collection, field: Field): string =>
  `    delete from ${linkTableOf(collection, field)} where owner = old.id;`;

/** In the targets' order, in which deletes lock them too. */
const addLinks = (collection: Collection, field: Field): string =>
  `    insert into ${linkTableOf(collection, field)} (owner, target)
      select r.id, e.id from fresh r cross join lateral jsonb_array_elements_text(r.${quoteIdentifier(field.name)}) e(id)
      order by e.id;`;

/**
 * Writes only differences, so an unchanged link does not lock its target. Old and new rows are not joined, because the
 * plan is made for the first update's few rows and then kept.
 */
function changeLinks(collection: Collection, field: Field): string {
  const links = linkTableOf(collection, field);
  const column = quoteIdentifier(field.name);
  const listed = (rows: string, others: string) =>
    `select r.id as owner, e.id as target
        from (select id, ${column} as list from ${rows} except select id, ${column} from ${others}) r
        cross join lateral jsonb_array_elements_text(r.list) e(id)`;
  return `    with was as materialized (
        ${listed('stale', 'fresh')}
      ), becomes as materialized (
        ${listed('fresh', 'stale')}
      ), dropped as (
        delete from ${links} l using (table was except table becomes) d
        where l.owner = d.owner and l.target = d.target
      )
      insert into ${links} (owner, target) table becomes except table was order by target;`;
}

/** Plans how the triggers and their function are dropped. */
export const planDropLinkTriggers = (collection: Collection): string[] =>
  collection.fields.some(holdsRelations)
    ? [
        // Tables of early releases have no such triggers.
        ...targetTriggers.map((name) => `drop trigger if exists ${name} on ${tableOf(collection)}`),
        ...['links_added', 'links_changed', 'links_dropped'].map(
          (name) => `drop trigger ${name} on ${tableOf(collection)}`,
        ),
        planDropLinkFunction(collection),
      ]
    : [];

/** Plans how the function is dropped once its triggers are gone. */
export const planDropLinkFunction = (collection: Collection): string => `drop function ${linkFunctionOf(collection)}()`;

/** Whether both collections have the same triggers. */
export const hasSameLinks = (before: Collection, after: Collection): boolean =>
  linkColumnsOf(before) === linkColumnsOf(after);

const linkColumnsOf = ({ fields }: Collection): string =>
  JSON.stringify(fields.filter(holdsRelations).map(({ id, name }) => [id, name]));
