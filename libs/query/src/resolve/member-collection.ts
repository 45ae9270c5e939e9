import type { Collection } from '@recordbus/schema';
import { type Member, setMembers } from './member.ts';

/** A collection without a definition that has only these members. */
export function memberCollection(name: string, members: ReadonlyMap<string, Member>): Collection {
  const collection: Collection = {
    id: '',
    name,
    type: 'view',
    fields: [],
    viewQuery: null,
    rules: { list: null, view: null, create: null, update: null, delete: null },
    historyEnabled: false,
    lacking: ['created_at', 'updated_at'],
    createdAtSec: 0,
    updatedAtSec: 0,
  };
  setMembers(collection, members);
  return collection;
}
