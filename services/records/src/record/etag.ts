/** The entity tag of a record: weak, made of its `updated_at` in unix seconds (interface §4.5). */
export const etagOf = (updatedAtSec: number): string => `W/"${updatedAtSec}"`;

/** Does If-None-Match name this version? Weak comparison (RFC 9110 §8.8.3.2, §13.1.2). */
export function isNoneMatch(header: string | undefined, updatedAtSec: number): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || opaqueTags(header).includes(String(updatedAtSec));
}

/**
 * The versions that If-Match admits, as `updated_at` in unix seconds; undefined when any version will do (no header, or
 * `*`, for the record is known to exist when it is asked). A header without one tag of ours admits none.
 */
export function versionsOfIfMatch(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return opaqueTags(header)
    .filter((tag) => /^\d{1,15}$/.test(tag))
    .map(Number);
}

/** Weak comparison looks at what stands between the quotes only. */
const opaqueTags = (header: string): string[] => [...header.matchAll(/"([^"]*)"/g)].map(([, tag = '']) => tag);
