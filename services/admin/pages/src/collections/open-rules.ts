import type { CollectionDefinition } from '@recordbus/client';

/** Returns the record writes that the server may let guests do. */
export const guestWrites = ({ guests }: CollectionDefinition): readonly string[] =>
  guests.filter((action) => action !== 'list' && action !== 'view');

/** Returns the fields whose files everyone with their address may download (files §7.6). */
export const publicFileFields = ({ fields }: CollectionDefinition): readonly string[] =>
  fields.filter(({ type, options }) => type === 'file' && options?.public === true).map(({ name }) => name);
