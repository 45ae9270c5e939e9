/** The codings in which files are stored in addition to their own bytes, best first. */
export const codings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;

/** Returns the names of the codings that a client accepts (RFC 9110 §12.5.3); `q=0` refuses one. */
export function acceptedCodings(header: string | undefined): ReadonlySet<string> {
  const terms = (header ?? '').slice(0, 1000).toLowerCase().split(',');
  const accepted = terms.filter((term) => !/;\s*q=0(\.0*)?\s*$/.test(term));
  return new Set(accepted.map((term) => (term.split(';')[0] ?? '').trim()));
}
