import fc from 'fast-check';

const [firstSurrogate, surrogates, lastCharacter] = [0xd800, 0x800, 0x10ffff];

/**
 * Any Unicode character, as the unit of fast-check's strings. Its own unit `binary` lists all of them first, which takes
 * a second on a core.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(lastCharacter - surrogates)
  .map((index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates), indexOf);

function indexOf(character: unknown): number {
  const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (point === undefined || character !== String.fromCodePoint(point)) throw new Error('not one character');
  if (point < firstSurrogate) return point;
  if (point < firstSurrogate + surrogates) throw new Error('a surrogate is not a character');
  return point - surrogates;
}
