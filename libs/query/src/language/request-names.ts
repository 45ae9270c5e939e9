import { QueryError } from '../query-error.ts';
import type { Operand } from './ast.ts';
import { operandsIn } from './operands.ts';
import { parse } from './parser.ts';

/** The query parameters and headers that a rule reads; header names have underscores. */
export interface RequestNames {
  readonly query: readonly string[];
  readonly headers: readonly string[];
}

/** Finds the names in a rule's text; none in a text that does not parse. */
export function findRequestNames(rule: string): RequestNames {
  const operands = operandsOf(rule);
  const namesIn = (part: 'query' | 'headers') => [
    ...new Set(
      operands.flatMap((operand) => {
        if (operand.kind !== 'request') return [];
        const [first, name] = operand.segments;
        return first === part && name !== undefined ? [name] : [];
      }),
    ),
  ];
  return { query: namesIn('query'), headers: namesIn('headers') };
}

/** Whether a rule reads the request body; false for a text that does not parse. */
export const readsRequestBody = (rule: string): boolean =>
  operandsOf(rule).some((operand) => operand.kind === 'request' && operand.segments[0] === 'body');

function operandsOf(rule: string): Operand[] {
  try {
    return operandsIn(parse(rule)).map(({ operand }) => operand);
  } catch (error) {
    if (error instanceof QueryError) return [];
    throw error;
  }
}
