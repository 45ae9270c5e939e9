/** A record's version in its parts. */
export interface Version {
  /** Its `updated`, in unix seconds. */
  readonly atSec: number;
  /** How many writes came earlier in that second. */
  readonly revision: number;
}

/** The form that `versionOf` writes: unpadded, and without a number for a second's first version. */
const form = /^(0|[1-9]\d{0,14})(?:\.([1-9]\d{0,9}))?$/;

/** Reads a version's text; undefined for any other text. */
export function readVersion(text: string): Version | undefined {
  const [, at, revision = '0'] = form.exec(text) ?? [];
  return at === undefined ? undefined : { atSec: Number(at), revision: Number(revision) };
}

/** A version that no other in the second follows. */
export const lastOfSecond = (atSec: number): Version => ({ atSec, revision: Number.MAX_SAFE_INTEGER });
