/** The version of a record in its parts. */
export interface Version {
  /** Its `updated`, in unix seconds. */
  readonly atSec: number;
  /** The number of earlier writes in that second. */
  readonly revision: number;
}

/** The form that `versionOf` writes: unpadded, and without a number for the first version of a second. */
const form = /^(0|[1-9]\d{0,14})(?:\.([1-9]\d{0,9}))?$/;

/** Reads the text of a version; undefined for any other text. */
export function readVersion(text: string): Version | undefined {
  const [, at, revision = '0'] = form.exec(text) ?? [];
  return at === undefined ? undefined : { atSec: Number(at), revision: Number(revision) };
}

/** A version that no other of the second follows. */
export const lastOfSecond = (atSec: number): Version => ({ atSec, revision: Number.MAX_SAFE_INTEGER });
