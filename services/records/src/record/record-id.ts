import { validationFailed } from '@recordbus/errors';

/** Ids are UUIDs; a view row's id may be any short text. */
const maxIdLength = 255;

/** Whether a record can have this id. PostgreSQL would refuse a NUL. */
export const isRecordId = (id: string): boolean => id.length <= maxIdLength && !id.includes('\0');

/** The ids that a client may choose. */
const chosenId = /^[A-Za-z0-9_-]{1,64}$/;
const maxChosenLength = 64;

/** Path segments that mean something else in an id's place. */
const reserved = new Set(['aggregate', 'batch', 'export', 'import', 'list', 'search']);

/**
 * Reads the id that a client chooses for a record. Throws 422 for an id that no new record can have (records §17.2).
 */
export function readNewId(id: string): string {
  if (id.length > maxChosenLength || !chosenId.test(id))
    throw validationFailed({ id: `must have 1 to ${maxChosenLength} letters, digits, underscores and hyphens` });
  if (reserved.has(id)) throw validationFailed({ id: `must not be ${[...reserved].join(', ')}` });
  return id;
}
