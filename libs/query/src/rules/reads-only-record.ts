import type { Collection } from '@recordbus/schema';
import type { Operand, Path } from '../language/ast.ts';
import { existsIn, operandsIn } from '../language/operands.ts';
import { parse } from '../language/parser.ts';
import { QueryError } from '../query-error.ts';
import { membersOf } from '../resolve/member.ts';

/**
 * Whether a rule reads only the record: no caller, request, time or other record. Then its result is the same for every
 * caller until the record changes. False for a rule that does not parse, although it admits nobody.
 */
export function readsOnlyRecord(rule: string, collection: Collection): boolean {
  try {
    const expression = parse(rule);
    return (
      existsIn(expression).length === 0 &&
      operandsIn(expression).every(({ operand }) => isOfRecord(operand, collection))
    );
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}

function isOfRecord(operand: Operand, collection: Collection): boolean {
  switch (operand.kind) {
    case 'moment':
    case 'request':
    case 'owner':
    case 'count':
      return false;
    case 'path':
      return isOwnValue(operand, collection);
    // The path within it is an operand of its own.
    case 'distance':
    case 'text':
    case 'number':
    case 'bool':
    case 'null':
      return true;
  }
}

/** Whether the path is a record member, or leads into its JSON value. */
function isOwnValue({ segments: [name = '', ...rest] }: Path, collection: Collection): boolean {
  const member = membersOf(collection).get(name);
  return member !== undefined && (rest.length === 0 || member.field?.collection === undefined);
}
