import {
  type Collection,
  type Field,
  foreignKeyName,
  linkKeyName,
  linkTableOf,
  ownerKeyName,
  quoteIdentifier,
  relationIndexName,
  tableOf,
} from '@recordbus/schema';

/**
 * Plans the link table for a relation to several records, filled from the lists. Its keys check that every target
 * exists, and its index finds the lists that have a target. The records service cascades itself, so the target's key
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

/** Plans how a field's link table is dropped. */
export const planDropLinks = (collection: Collection, field: Field): string =>
  `drop table ${linkTableOf(collection, field)}`;
