import {
  type Collection,
  type Field,
  foreignKeyName,
  holdsRelations,
  linkKeyName,
  linkTableName,
  linkTableOf,
  ownerKeyName,
  quoteIdentifier,
  quoteLiteral,
  relationIndexName,
  tableOf,
} from '@recordbus/schema';

/**
 * Plans the table of links of a relation to several records, filled from the lists. Its keys check that every target
 * exists, and its index finds the lists that have a target. The records service cascades itself, so the key of the target
 * has no action.
 */
export function planLinks(collection: Collection, field: Field, target: string): string[] {
  const links = linkTableOf(collection, field);
  const owners = tableOf(collection);
  const name = (of: (owner: Collection, field: Field) => string) => quoteIdentifier(of(collection, field));
  return [
    `create table ${links} (owner text collate "C" not null, target text collate "C" not null)`,
    `insert into ${links} (owner, target)
   select t.id, e.id from ${owners} t cross join lateral jsonb_array_elements_text(t.${quoteIdentifier(field.name)}) e(id)`,
    `alter table ${links} add constraint ${name(linkKeyName)} primary key (owner, target)`,
    `create index ${name(relationIndexName)} on ${links} (target, owner)`,
    `alter table ${links} add constraint ${name(ownerKeyName)} foreign key (owner) references ${owners} (id) on delete cascade,
   add constraint ${name(foreignKeyName)} foreign key (target) references ${tableOf({ name: target })} (id) deferrable initially immediate`,
  ];
}

/** Plans the drop of the table of links of a field. */
export const planDropLinks = (collection: Collection, field: Field): string =>
  `drop table ${linkTableOf(collection, field)}`;

/** Plans the triggers that keep the links of a collection (migration 0030). As triggers they work for every writer. */
export function planLinkTriggers(collection: Collection): string[] {
  const fields = collection.fields.filter(holdsRelations);
  if (fields.length === 0) return [];
  const table = tableOf(collection);
  const linkNames = fields.map((field) => quoteLiteral(linkTableName(collection, field)));
  const pairs = fields.map(({ name }, index) => `${quoteLiteral(name)}, ${linkNames[index]}`).join(', ');
  return [
    `create trigger links_added after insert on ${table} referencing new table as fresh
   for each statement execute function system.links_added(${pairs})`,
    `create trigger links_changed after update on ${table} referencing old table as stale new table as fresh
   for each statement execute function system.links_changed(${pairs})`,
    `create trigger links_dropped before delete on ${table} for each row
   execute function system.links_dropped(${linkNames.join(', ')})`,
  ];
}

/** Plans the drop of these triggers. */
export const planDropLinkTriggers = (collection: Collection): string[] =>
  collection.fields.some(holdsRelations)
    ? ['links_added', 'links_changed', 'links_dropped'].map((name) => `drop trigger ${name} on ${tableOf(collection)}`)
    : [];

/** Whether the triggers of both collections are the same. */
export const hasSameLinks = (before: Collection, after: Collection): boolean =>
  linkColumnsOf(before) === linkColumnsOf(after);

const linkColumnsOf = ({ fields }: Collection): string =>
  JSON.stringify(fields.filter(holdsRelations).map(({ id, name }) => [id, name]));
