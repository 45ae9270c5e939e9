import type { Collection } from '@recordbus/schema';
import { perCollection } from '../sql/prepared.ts';
import type { DeleteRules } from './deletion.ts';
import type { FindReferrers } from './referrers.ts';

/** The collections whose records may go with one of the collection, itself among them, and those that may be cleared. */
const reachOf = perCollection((root, findReferrers: FindReferrers) => {
  const going = new Set<Collection>([root]);
  const cleared = new Set<Collection>();
  // What is added meanwhile is looked at too.
  for (const target of going) {
    for (const { collection, cascade } of findReferrers(target)) {
      if (cascade === 'cascade') going.add(collection);
      if (cascade === 'setNull') cleared.add(collection);
    }
  }
  return { going: [...going], cleared: [...cleared] };
});

/** Does anything stand before the delete of a record of the collection, or before what that may lead to? */
export function isDeleteHooked(root: Collection, { findReferrers, hooks }: DeleteRules): boolean {
  const { going, cleared } = reachOf(root, findReferrers);
  return (
    going.some((collection) => hooks.find(collection, 'delete')) ||
    cleared.some((collection) => hooks.find(collection, 'update'))
  );
}
