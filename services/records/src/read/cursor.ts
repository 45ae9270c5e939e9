import { createHash } from 'node:crypto';
import { AppError, malformedParameter } from '@recordbus/errors';
import type { SortKey } from '@recordbus/query';
import { readJson, readText } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';

/** A record's values by which a list is sorted, in JSON; lists and JSON values as their JSON text. */
export type CursorValues = readonly (string | number | boolean | null)[];

/** The list that a cursor belongs to. */
export interface CursorList {
  readonly collection: Pick<Collection, 'id'>;
  readonly filter: string | undefined;
  readonly sort: string | undefined;
  readonly principal: Principal;
}

/** How many characters a cursor's values may have: a cursor is part of a URL. */
const maxValuesLength = 4000;

/** How long a text that is a cursor can be: the values in UTF-8 as base64, and the list's name. */
export const maxCursorLength = 16_500;

/**
 * Returns the cursor after a record. It is not secret and not signed: a client that changes the values reads a part of
 * the list that it could select with a filter. Throws 422 for values that are too long.
 */
export function writeCursor(list: CursorList, values: string): string {
  if (values.length > maxValuesLength)
    throw new AppError(422, 'cursor_too_long', 'the sort values are too long for a cursor: sort by shorter ones');
  return Buffer.from(`${nameOf(list)}${values}`).toString('base64url');
}

/** Returns the values in a cursor. Throws 400 for one that is malformed or belongs to another list or caller. */
export function readCursor(cursor: string, list: CursorList, keys: readonly SortKey[]): CursorValues {
  const text = Buffer.from(cursor, 'base64url').toString();
  const name = nameOf(list);
  if (!/^[A-Za-z0-9_-]{16}\[/.test(text)) throw malformedParameter('cursor', 'is not a cursor');
  if (!text.startsWith(name)) throw malformedParameter('cursor', 'belongs to another filter, sort or caller');
  const values = parseValues(text.slice(name.length));
  if (values?.length !== keys.length || !keys.every((key, index) => canHave(key, values[index])))
    throw malformedParameter('cursor', 'does not fit the sort fields');
  return values as CursorValues;
}

/** A short name for collection, filter, sort and caller. */
function nameOf({ collection, filter, sort, principal }: CursorList): string {
  const caller = principal.type === 'guest' ? [] : [principal.type, principal.id];
  const list = JSON.stringify([collection.id, filter ?? null, sort ?? null, ...caller]);
  return createHash('sha256').update(list).digest('base64url').slice(0, 16);
}

function parseValues(text: string): readonly unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(text);
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the database can compare the value with the key. */
function canHave({ kind, canBeNull }: SortKey, value: unknown): boolean {
  if (value === null) return canBeNull;
  switch (kind) {
    case 'number':
      return Number.isFinite(value);
    case 'date':
      return Number.isSafeInteger(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'text':
      return typeof value === 'string' && readText(value) !== undefined;
    default:
      return typeof value === 'string' && isJson(value);
  }
}

function isJson(text: string): boolean {
  try {
    return readJson(JSON.parse(text)) !== undefined;
  } catch {
    return false;
  }
}
