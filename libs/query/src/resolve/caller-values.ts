import type { CallerValue, CountSource, RequestValue, Resolved, Source } from './resolved.ts';

/** A source that reads the caller. */
export type OfCaller = RequestValue | CallerValue | CountSource;

/** Whether a guest lacks the value. */
const isOfCaller = (source: Source): source is OfCaller =>
  source.source === 'caller' ||
  (source.source === 'request' && source.part === 'auth') ||
  (source.source === 'count' && source.account !== undefined);

/** The sources of a value that read the caller. */
export const callersOf = (source: Source): OfCaller[] => {
  if (source.source === 'several') return source.items.flatMap(callersOf);
  return isOfCaller(source) ? [source] : [];
};

/** The sources of an expression that read the caller, those within `exists` included. Guards of clients do not count. */
export function callersIn(expression: Resolved): OfCaller[] {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return expression.items.flatMap(callersIn);
    case 'decided':
      return [];
    case 'nullTest':
      return callersOf(expression.operand);
    case 'comparison':
      return [...callersOf(expression.left), ...callersOf(expression.right)];
    case 'exists':
      return expression.condition ? callersIn(expression.condition) : [];
  }
}

/** Whether the expression reads a value of the caller, even a value that the caller lacks. */
export function readsCaller(expression: Resolved): boolean {
  if (expression.kind === 'all' || expression.kind === 'any') return expression.items.some(readsCaller);
  return lacksCaller(expression) || callersIn(expression).length > 0;
}

/** Whether the expression reads a value that no such caller has. */
export function lacksCaller(expression: Resolved): boolean {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return expression.items.some(lacksCaller);
    case 'decided':
      return expression.lacksCaller === true;
    case 'exists':
      return expression.condition !== undefined && lacksCaller(expression.condition);
    default:
      return false;
  }
}
