import { randomInt } from 'node:crypto';

/** How often `*`, `+` and `{n,}` repeat at most beyond what they need. */
const openRepeats = 6;

const maxPatternLength = 300;

/** How many characters a text may have, and how deep groups may be. */
const maxCharacters = 1000;
const maxDepth = 20;

/** Makes random texts. */
interface Maker {
  /** The most characters that a text has. */
  readonly longest: number;
  readonly make: () => string;
}

class Unusable extends Error {}

/**
 * Returns a function that makes random texts of a pattern: characters, classes such as `[a-z0-9]` and `\d`, groups,
 * alternatives and repetitions (fields §2.8). Undefined for another pattern, and for one whose texts may have more than
 * 1,000 characters.
 */
export function compileRandomText(pattern: string): (() => string) | undefined {
  if (pattern === '' || pattern.length > maxPatternLength) return undefined;
  try {
    return readPattern([...pattern]).make;
  } catch (error) {
    if (error instanceof Unusable) return undefined;
    throw error;
  }
}

function readPattern(characters: readonly string[]): Maker {
  let at = 0;
  const made = alternatives(0);
  if (at < characters.length) throw new Unusable();
  return made;

  function alternatives(depth: number): Maker {
    if (depth > maxDepth) throw new Unusable();
    const found = [sequence(depth)];
    while (characters[at] === '|') {
      at += 1;
      found.push(sequence(depth));
    }
    return oneOf(found);
  }

  function sequence(depth: number): Maker {
    const parts: Maker[] = [];
    while (at < characters.length && characters[at] !== '|' && characters[at] !== ')') {
      const part = atom(depth);
      parts.push(repeated(part, repetition()));
    }
    return bounded(
      parts.reduce((sum, { longest }) => sum + longest, 0),
      () => parts.map(({ make }) => make()).join(''),
    );
  }

  function atom(depth: number): Maker {
    const character = characters[at++] ?? '';
    switch (character) {
      case '(': {
        if (characters[at] === '?') {
          if (characters[at + 1] !== ':') throw new Unusable();
          at += 2;
        }
        const group = alternatives(depth + 1);
        if (characters[at++] !== ')') throw new Unusable();
        return group;
      }
      case '[':
        return fromRanges(readClass());
      case '.':
        return fromRanges(named.w.slice(0, 3));
      case '\\':
        return fromRanges(escaped());
      case '^':
      case '$':
      case '*':
      case '+':
      case '?':
      case '{':
        throw new Unusable();
      default:
        return fromRanges([rangeOf(character, character)]);
    }
  }

  function escaped(): readonly Range[] {
    const character = characters[at++] ?? '';
    const known = Object.hasOwn(named, character) ? named[character as keyof typeof named] : undefined;
    if (known) return known;
    if (/[A-Za-z0-9]/.test(character) || character === '') throw new Unusable();
    return [rangeOf(character, character)];
  }

  function readClass(): readonly Range[] {
    const ranges: Range[] = [];
    if (characters[at] === '^') throw new Unusable();
    for (let isFirst = true; isFirst || characters[at] !== ']'; isFirst = false) {
      const from = classMember();
      const [start] = from;
      const isRange = characters[at] === '-' && characters[at + 1] !== ']';
      if (!isRange || !start) {
        ranges.push(...from);
        continue;
      }
      at += 1;
      const [end, ...more] = classMember();
      if (!end || more.length + from.length > 1 || !isOne(start) || !isOne(end) || end.first < start.first)
        throw new Unusable();
      ranges.push({ first: start.first, last: end.first });
    }
    at += 1;
    return ranges;
  }

  function classMember(): readonly Range[] {
    const character = characters[at++];
    if (character === undefined || (character === '[' && characters[at] === ':')) throw new Unusable();
    return character === '\\' ? escaped() : [rangeOf(character, character)];
  }

  function repetition(): { readonly least: number; readonly most: number } {
    const rest = characters.slice(at, at + 12).join('');
    const read = /^(?:([?*+])|\{(\d{1,4})(,(\d{0,4}))?\})\??/.exec(rest);
    if (!read) return { least: 1, most: 1 };
    at += read[0].length;
    const [, sign, from, isOpen, to] = read;
    if (sign !== undefined) return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : openRepeats };
    const least = Number(from);
    const most = isOpen === undefined ? least : to ? Number(to) : Math.max(least, openRepeats);
    if (most < least) throw new Unusable();
    return { least, most };
  }
}

/** Code points from the first to the last. */
interface Range {
  readonly first: number;
  readonly last: number;
}

function rangeOf(first: string, last: string): Range {
  const range = { first: first.codePointAt(0) ?? 0, last: last.codePointAt(0) ?? 0 };
  // No text may have NUL or half a surrogate pair (fields §2.5).
  if (range.first === 0 || (range.first >= 0xd800 && range.first <= 0xdfff)) throw new Unusable();
  return range;
}

const isOne = ({ first, last }: Range): boolean => first === last;

const named = {
  w: [rangeOf('a', 'z'), rangeOf('A', 'Z'), rangeOf('0', '9'), rangeOf('_', '_')],
  d: [rangeOf('0', '9')],
} as const satisfies Record<string, readonly Range[]>;

function fromRanges(ranges: readonly Range[]): Maker {
  const sizes = ranges.map(({ first, last }) => last - first + 1);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (ranges.some(({ first, last }) => first < 0xd800 && last > 0xdfff)) throw new Unusable();
  return {
    longest: 1,
    make() {
      let position = randomInt(all);
      for (const [index, { first }] of ranges.entries()) {
        const size = sizes[index] ?? 0;
        if (position < size) return String.fromCodePoint(first + position);
        position -= size;
      }
      return '';
    },
  };
}

const oneOf = (makers: readonly Maker[]): Maker =>
  bounded(Math.max(...makers.map(({ longest }) => longest)), () => makers[randomInt(makers.length)]?.make() ?? '');

function repeated({ longest, make }: Maker, { least, most }: { readonly least: number; readonly most: number }): Maker {
  if (most === 1 && least === 1) return { longest, make };
  // An empty text costs something, too.
  return bounded(Math.max(longest, 1) * most, () => Array.from({ length: randomInt(least, most + 1) }, make).join(''));
}

function bounded(longest: number, make: () => string): Maker {
  if (longest > maxCharacters) throw new Unusable();
  return { longest, make };
}
