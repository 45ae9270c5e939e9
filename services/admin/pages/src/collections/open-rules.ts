import type { CollectionDefinition } from '@recordbus/client';

/** Returns the record writes that the server may let guests do. */
export const guestWrites = ({ guests }: CollectionDefinition): readonly string[] =>
  guests.filter((action) => action !== 'list' && action !== 'view');
