import type { Directory } from './definitions.ts';
import { type Gap, signedIn } from './meaning.ts';
import { findPath, type Path } from './path.ts';
import { MissingName, Untranslatable } from './untranslatable.ts';

const prefix = '@request.auth.';

/** The caller's value: `@request.auth.<path>`. */
export interface CallerValue {
  /** With its text here from `@request.auth` on. */
  readonly path: Path;
  /** Whether every account has it, and it is never empty. */
  readonly isSure: boolean;
  /** Whether every account collection has the field. */
  readonly isEverywhere: boolean;
}

/** Finds a caller's value. Account collections may each have the field, but then with one kind. */
export function findCallerValue(segments: readonly string[], directory: Directory): CallerValue {
  const { accounts } = directory;
  const found = accounts.flatMap((collection) => {
    try {
      return [findPath(segments, collection, directory)];
    } catch (error) {
      if (error instanceof MissingName) return [];
      throw error;
    }
  });
  const [first] = found;
  if (!first) throw new Untranslatable(`no account has "${segments.join('.')}"`);
  const isSame = found.every(
    ({ text, kind, several, hop }) =>
      text === first.text &&
      kind === first.kind &&
      hop === first.hop &&
      JSON.stringify(several) === JSON.stringify(first.several),
  );
  if (!isSame) throw new Untranslatable(`accounts have different fields "${segments.join('.')}"`);
  const [name = ''] = first.text.split('.');
  if (name === 'type' || name === 'collection')
    throw new Untranslatable(`${prefix}${name}, which is another value here: the field needs another name`);
  const isEverywhere = found.length === accounts.length;
  const isRequired = found.every((path) => path.isRequired);
  const isSure = isEverywhere && isRequired && !first.hop && !first.several;
  // One collection whose users may have a made-up address is enough.
  const isAddress = found.some((path) => path.isAddress);
  return { path: { ...inCaller(first), isRequired, isAddress }, isSure, isEverywhere };
}

function inCaller(path: Path): Path {
  const { several, hop } = path;
  const of = (text: string) => `${prefix}${text}`;
  return {
    ...path,
    text: of(path.text),
    hop: hop === undefined ? undefined : of(hop),
    several: several && {
      ...several,
      join: of(several.join),
      records: of(several.records),
      from: several.from && {
        ...several.from,
        by:
          'in' in several.from.by ? { in: of(several.from.by.in) } : { ...several.from.by, to: of(several.from.by.to) },
      },
    },
  };
}

/** What a test on the value needs to hold. */
export const needsOf = ({ path }: CallerValue): string[] => [signedIn, path.text];

/** Where PocketBase lets a guest, or an account without the value, match. */
export function lackOf({ path, isSure }: CallerValue, closedBy: readonly string[] = []): Gap {
  return {
    why: isSure
      ? `PocketBase lets guests match: ${path.text} is empty for them`
      : `PocketBase lets guests and accounts without ${path.text} match an empty value`,
    closedBy: [path.text, ...(isSure ? [signedIn] : []), ...closedBy],
  };
}
