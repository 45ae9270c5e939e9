import { invalidArgument } from './error.ts';

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** Joins path segments, each encoded, below `/api/v1`. Throws for a segment that would lead to another path. */
export const apiPath = (...segments: readonly string[]): string => `/api/v1/${segments.map(encodeSegment).join('/')}`;

function encodeSegment(segment: string): string {
  if (typeof segment !== 'string' || ['', '.', '..'].includes(segment))
    throw invalidArgument(`"${segment}" cannot be a part of a path.`);
  return encode(segment);
}

/** Encodes a text for a URL. Half a surrogate pair has no encoding. */
export function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw invalidArgument('A text that is not Unicode cannot be sent.', cause);
  }
}

/** Returns the parameters that a caller adds, and those of the call itself, which take precedence. */
export const mergeQueries = (more: Query | undefined, own: Query): Query => ({
  ...more,
  ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
});

/** Returns a path with its query. */
export function withQuery(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [`${encode(name)}=${encode(textOf(value))}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

const textOf = (value: unknown): string =>
  value === true ? '1' : value === false ? '0' : Array.isArray(value) ? value.join(',') : String(value);
