/** Whether `If-None-Match` contains this ETag, by weak comparison (RFC 9110 §13.1.2). */
export const isKnownVersion = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  (ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));

/**
 * The versions that If-Match admits; undefined for any: without the header, or with `*`, since the resource is known to
 * exist when it is compared. A header without a tag admits none.
 */
export function versionsOfIfMatch(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return opaqueTags(header);
}

/** The texts between the quotes, which weak comparison compares (RFC 9110 §8.8.3.2). */
export const opaqueTags = (header: string): string[] => [...header.matchAll(/"([^"]*)"/g)].map(([, tag = '']) => tag);
