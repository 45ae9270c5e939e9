import type { Reference } from '@recordbus/query';

/** Ids survive renames. */
export const keyOf = ({ to, collection }: Reference): string =>
  to === collection ? collection.id : `${collection.id} ${to.id}`;

/** Says what a rule or a filter names that a change drops. */
export const refusalOf = ({ to, collection }: Reference): string =>
  to === collection
    ? `names the collection ${collection.name}`
    : `names the field ${JSON.stringify(to.name)} in ${collection.name}`;
