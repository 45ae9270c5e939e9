import { createHash } from 'node:crypto';
import { malformed } from '@recordbus/errors';
import { opaqueTags } from '@recordbus/http';

/** A record's entity tag, made from its version (records §8.1). */
export const etagOf = (version: string): string => `W/"${version}"`;

/** The same in SQL, for a version's SQL. */
export const etagSql = (version: string): string => `'W/"' || ${version} || '"'`;

/** The version of a view's row, made from its content: a row may change without its `updated` (records §8.3). */
export const contentTag = (body: string): string =>
  createHash('sha256').update(body).digest('base64url').slice(0, contentTagLength);

/** 162 bits. */
const contentTagLength = 27;

/** Whether If-None-Match names this version, by weak comparison (RFC 9110 §8.8.3.2, §13.1.2). */
export function isNoneMatch(header: string | undefined, version: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || opaqueTags(header).includes(version);
}

/**
 * Whether a write's If-None-Match asks for a new record. Throws 400 for a list of tags, which writes do not compare.
 */
export function readOnlyNew(header: string | undefined): boolean {
  if (header === undefined) return false;
  if (header.trim() !== '*') throw malformed("a write's If-None-Match must be *");
  return true;
}
