import type { CallerValue, CountSource, RequestValue, Resolved, Source } from './resolved.ts';
import { resolvedTestsIn, sourcesIn } from './visit-resolved.ts';

/** A source that reads the caller. */
export type OfCaller = RequestValue | CallerValue | CountSource;

/** Whether a guest lacks the value. */
export const isOfCaller = (source: Source): source is OfCaller =>
  source.source === 'caller' ||
  (source.source === 'request' && source.part === 'auth') ||
  (source.source === 'count' && source.account !== undefined);

/** The sources of an expression that read the caller, those within `exists` included. Guards of clients do not count. */
export const callersIn = (expression: Resolved): OfCaller[] => sourcesIn(expression).filter(isOfCaller);

/** Whether the expression reads a value of the caller, even a value that the caller lacks. */
export const readsCaller = (expression: Resolved): boolean =>
  lacksCaller(expression) || callersIn(expression).length > 0;

/** Whether the expression reads a value that no such caller has. */
export const lacksCaller = (expression: Resolved): boolean =>
  resolvedTestsIn(expression).some((test) => test.kind === 'decided' && test.lacksCaller === true);
