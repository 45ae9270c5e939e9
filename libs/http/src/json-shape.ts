import { randomInt } from 'node:crypto';

/** The deepest nesting of lists and objects in a body. Recursive code runs out of stack at a few thousand levels. */
export const maxNesting = 1000;

/** The largest sum over the levels of a body's lists and objects; serializing takes time for each level. */
const maxLevels = 5_000_000;

/**
 * How many different members a body may have. Objects with the same names in the same order count once. A new member
 * costs JSON.parse and other code a microsecond, a known one next to nothing.
 */
export const maxDifferentMembers = 20_000;

/**
 * How many different short texts a body may have. V8 stores each text up to 10 characters once, and takes half a
 * microsecond for a new one.
 */
export const maxDifferentTexts = 50_000;

/** A larger body is read in several pieces, and has its own limits. */
export const largeBodyBytes = 2 ** 20;

/** How many different members a large body may have. A schema snapshot has about a hundred. */
export const maxMembersOfLarge = 5000;

/**
 * How many lists and objects a large body may have. Each takes up to 0.4 µs. A snapshot with 500 collections and 50
 * fields each has 52,000.
 */
export const maxGroupsOfLarge = 100_000;

/** Longer texts do not count, even if only escapes or characters outside ASCII make them longer. */
const maxShortTextBytes = 10;

/** A shorter body cannot exceed the limits. The shortest member is `"a":1,`. */
const minCountedBytes = Math.min(maxDifferentMembers * 5, maxDifferentTexts * 4);

const [quote, backslash, colon, space] = [0x22, 0x5c, 0x3a, 0x20];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Returns why a JSON text in UTF-8 is too costly to parse, such as "nests deeper than …"; undefined if it is not.
 * Linear.
 */
export function findJsonExcess(json: Uint8Array): string | undefined {
  if (json.length <= maxNesting) return undefined;
  if (json.length <= minCountedBytes) return createScan(undefined)(json);
  const isLarge = json.length > largeBodyBytes;
  const different = countDifferent(isLarge ? maxMembersOfLarge : maxDifferentMembers);
  return createScan(different, isLarge ? maxGroupsOfLarge : Number.POSITIVE_INFINITY)(json);
}

/** The limit that one request's JSON texts share. */
export interface JsonBudget {
  /** Counts a text in UTF-8. Returns what `findJsonExcess` would for all texts so far together. Linear. */
  take(json: Uint8Array): string | undefined;
}

/** Creates one JSON body's budget. Its counts take memory only once there is JSON, since most forms have none. */
export function createJsonBudget(): JsonBudget {
  let scan: JsonBudget['take'] | undefined;
  return {
    take(json) {
      scan ??= createScan(countDifferent(maxDifferentMembers));
      return scan(json);
    },
  };
}

function createScan(
  different: DifferentCount | undefined,
  maxGroups = Number.POSITIVE_INFINITY,
): (json: Uint8Array) => string | undefined {
  let levels = 0;
  let groups = 0;
  return (json) => {
    let depth = 0;
    let textStart = -1;
    for (let index = 0; index < json.length; index += 1) {
      const byte = json[index];
      if (textStart >= 0) {
        if (byte === backslash) index += 1;
        else if (byte === quote) {
          const excess = different?.add(json, depth, textStart, index);
          if (excess) return excess;
          textStart = -1;
        }
      } else if (byte === quote) textStart = index + 1;
      else if (byte === openList || byte === openObject) {
        depth += 1;
        levels += depth;
        groups += 1;
        if (depth > maxNesting) return `nests deeper than ${maxNesting} levels`;
        if (levels > maxLevels) return 'has too many lists and objects at deep levels';
        if (groups > maxGroups) return `has more than ${maxGroups} lists and objects`;
        different?.enter(depth);
      } else if (byte === closeList || byte === closeObject) depth -= 1;
    }
    return undefined;
  };
}

function isName(json: Uint8Array, behind: number): boolean {
  let index = behind;
  while ((json[index] ?? colon) <= space) index += 1;
  return json[index] === colon;
}

const countedBits = 17;
/** Random, so that clients cannot choose names with the same hash. */
const factor = 2 * randomInt(2 ** 29, 2 ** 30) + 1;

/** Counts the different members and short texts by their hashes; a few with equal hashes count as one. */
interface DifferentCount {
  enter(depth: number): void;
  /** Counts the name or text between two quotes; returns a sentence when there are too many. */
  add(json: Uint8Array, depth: number, start: number, end: number): string | undefined;
}

function countDifferent(maxNames: number): DifferentCount {
  const names = new Uint8Array(2 ** countedBits);
  const texts = new Uint8Array(2 ** countedBits);
  /** The hash of the members so far, for the object at each level. */
  const hashes = new Int32Array(maxNesting + 1);
  let nameCount = 0;
  let textCount = 0;
  return {
    enter(depth) {
      hashes[depth] = 1;
    },
    add(json, depth, start, end) {
      if (isName(json, end + 1)) {
        const hash = hashOf(json, start, end, hashes[depth] ?? 0);
        hashes[depth] = hash;
        nameCount += countOnce(names, hash);
        return nameCount > maxNames ? `has more than ${maxNames} different members` : undefined;
      }
      if (end - start > maxShortTextBytes) return undefined;
      textCount += countOnce(texts, hashOf(json, start, end, 1));
      return textCount > maxDifferentTexts ? `has more than ${maxDifferentTexts} different short texts` : undefined;
    },
  };
}

function hashOf(json: Uint8Array, start: number, end: number, before: number): number {
  let hash = Math.imul(before ^ quote, factor);
  for (let index = start; index < end; index += 1) {
    hash = Math.imul(hash ^ (json[index] ?? 0), factor);
    hash ^= hash >>> 15;
  }
  return hash;
}

/** Returns 1 for a new hash, else 0. */
function countOnce(seen: Uint8Array, hash: number): number {
  const index = Math.imul(hash, factor) >>> (32 - countedBits);
  const isNew = seen[index] === 0;
  seen[index] = 1;
  return isNew ? 1 : 0;
}
