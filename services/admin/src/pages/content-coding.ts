/** The codings in which files are stored in addition to their own bytes, best first. */
export const codings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;
