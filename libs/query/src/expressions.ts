import { compile } from './compile.ts';
import { parse } from './parser.ts';
import { type Place, placeIn } from './place.ts';
import { resolve } from './resolve.ts';
import type { Scope } from './scope.ts';

/**
 * Compiles the text of a rule or a filter into an SQL condition about the row of `place` (see `compile` on null).
 * The empty text is no expression: as a filter it is none (contract §8), as a rule it means admins only.
 * Throws QueryError: a client's 400, a rule's 422.
 */
export const compileExpression = (text: string, scope: Scope, place: Place): string =>
  compile(resolve(parse(text), scope), placeIn(scope, place));

/** Throws QueryError for a rule that could not be compiled, so a collection is saved only with rules that can. */
export function checkRule(text: string, scope: Omit<Scope, 'writtenBy'>): void {
  resolve(parse(text), { ...scope, writtenBy: 'rule' });
}
