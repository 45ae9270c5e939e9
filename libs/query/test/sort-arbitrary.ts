import fc from 'fast-check';
import type { Word, Words } from './vocabulary.ts';

/** A sort term. */
export interface SortTerm {
  readonly path: string;
  readonly isDescending: boolean;
}

/** Sorts by paths to one value with a plain order, by counts and by distances. */
export function sortArbitrary(words: Words): fc.Arbitrary<SortTerm[]> {
  const isPlain = ({ path, isSeveral }: Word) => !isSeveral && !path.includes(':');
  const plain = [words.text, words.number, words.bool, words.date].map((group) => group.filter(isPlain));
  const counts = words.counts.map(({ path }) => `count(${path})`);
  const distances = words.points.filter(isPlain).map(({ path }) => `distance(${path}, 48.1, 16)`);
  const groups = [...plain.map((group) => group.map(({ path }) => path)), counts, distances];
  const path = fc.oneof(...groups.filter(({ length }) => length > 0).map((group) => fc.constantFrom(...group)));
  return fc.array(fc.record({ path, isDescending: fc.boolean() }), { minLength: 1, maxLength: 3 });
}
