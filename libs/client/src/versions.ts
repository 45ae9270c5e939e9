import { isConflict, RecordbusError } from './error.ts';

/** The ETags of records that were read. A record's copy has none: `tagOf` then uses its `updated`. */
const tags = new WeakMap<object, string>();

/** Remembers the ETag with which a record was read. Returns the record. */
export function remember<R>(record: R, etag: string | null | undefined): R {
  if (etag && typeof record === 'object' && record !== null) tags.set(record, etag);
  return record;
}

/** A version's ETag (events §2.5). */
export const etagOf = (version: string): string => `W/"${version}"`;

/** The ETag with which a record was read, or undefined for a record that shows no version, such as one from a list. */
const exactTag = (record: object): string | undefined => tags.get(record);

/** The version that a write expects. `isExact` is false if only its second is known. */
export interface Expected {
  readonly tag: string | undefined;
  readonly isExact: boolean;
}

/** The option `ifMatch`: an ETag, or false to ignore the version. */
export type IfMatch = string | false | undefined;

/** The version that a write to `subject`, a record that was read or an id, expects. */
export function expectedOf(subject: string | object, ifMatch: IfMatch): Expected {
  if (ifMatch !== undefined) return { tag: ifMatch || undefined, isExact: true };
  if (typeof subject === 'string') return { tag: undefined, isExact: true };
  const tag = exactTag(subject);
  if (tag) return { tag, isExact: true };
  const updated: unknown = Reflect.get(subject, 'updated');
  if (typeof updated === 'number') return { tag: etagOf(String(updated)), isExact: false };
  throw new RecordbusError('The record was read without its version: read `updated` too, or set `ifMatch`.', {
    status: 0,
    code: 'version_unknown',
  });
}

/**
 * Whether to retry a refused write with the current version. A list shows only a version's second. If the record was
 * written several times in that second, the assumed version is wrong, but the record may still be the one that was
 * read.
 */
export const isSameSecond = (error: unknown, { tag, isExact }: Expected): boolean =>
  !isExact && isConflict(error) && secondOf(error.version) === secondOf(tag);

const secondOf = (tag: string | undefined): string | undefined => /^(?:W\/)?"(\d+)/.exec(tag ?? '')?.[1];

/** Whether a record still has the values with which it was read. */
export const isUnchanged = (read: object, now: object): boolean =>
  Object.entries(read).every(([name, value]) => isOutside.has(name) || isSame(value, Reflect.get(now, name)));

/** Members outside the record. */
const isOutside = new Set(['expand', '_score', '_highlight', '_files']);

/** Whether two JSON values are the same. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const names = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(Reflect.get(a, name), Reflect.get(b, name)))
  );
}
