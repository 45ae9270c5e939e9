import fc from 'fast-check';
import type { Expression } from '../src/language/ast.ts';
import { position, type Vocabulary } from './operand-arbitrary.ts';
import { testArbitrary } from './test-arbitrary.ts';
import { mapWords, type RequestWords, type Words } from './vocabulary.ts';

/** The names that expressions may use. */
export interface Language {
  /** The paths from a collection. */
  words(collection: string): Words;
  /** For rules. */
  readonly request: RequestWords | undefined;
  /** The collections that `exists` may name. */
  readonly related: readonly string[];
}

/** Expressions over a collection, with nested `exists` up to a depth; a few are refused. */
export const expressionArbitrary = (language: Language, collection: string, depth = 2): fc.Arbitrary<Expression> =>
  expressionsOver(language.words(collection), language, depth);

function expressionsOver(words: Words, language: Language, depth: number): fc.Arbitrary<Expression> {
  const vocabulary: Vocabulary = { words, request: language.request };
  const test = testArbitrary(vocabulary);
  const quantified = fc
    .tuple(fc.constantFrom('all' as const, 'none' as const), test)
    .map(([quantifier, it]): Expression => ({ kind: 'quantified', quantifier, test: it, position }));
  const related = depth > 0 && language.related.length > 0 ? [existsArbitrary(words, language, depth - 1)] : [];
  const leaf = fc.oneof<fc.WeightedArbitrary<Expression>[]>(
    { weight: 6, arbitrary: test },
    { weight: 2, arbitrary: quantified },
    ...related.map((arbitrary) => ({ weight: 2, arbitrary })),
  );
  return fc.letrec<{ expression: Expression; junction: Expression; negation: Expression }>((tie) => ({
    junction: fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      items: fc.array(tie('expression'), { minLength: 2, maxLength: 3 }),
    }),
    negation: fc.record({ kind: fc.constant('not' as const), item: tie('expression') }),
    expression: fc.oneof({ maxDepth: 3, depthSize: 'small' }, leaf, tie('junction'), tie('negation')),
  })).expression;
}

function existsArbitrary(outer: Words, language: Language, depth: number): fc.Arbitrary<Expression> {
  const known = new Map<string, fc.Arbitrary<Expression>>();
  const over = (collection: string) => {
    const found =
      known.get(collection) ?? expressionsOver(withOuter(language.words(collection), outer), language, depth);
    known.set(collection, found);
    return found;
  };
  return fc
    .constantFrom(...language.related)
    .chain((collection) =>
      over(collection).map((condition): Expression => ({ kind: 'exists', collection, condition, position })),
    );
}

/** The names within `exists`: its collection's, and the outer record's after `record.`. */
const withOuter = (inner: Words, outer: Words): Words =>
  mapWords((group) => [...inner[group], ...outer[group].map((word) => ({ ...word, path: `record.${word.path}` }))]);
