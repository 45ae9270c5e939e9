import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { existsIn, operandsIn, type PlacedOperand } from '../language/operands.ts';
import { parse } from '../language/parser.ts';
import { QueryError } from '../query-error.ts';
import { callerCollection } from '../resolve/caller-collection.ts';
import type { QuerySchema } from '../resolve/scope.ts';
import { othersIn } from './rule-sources.ts';

/** Whose rule it is, and the caller. */
interface Place {
  readonly collection: Collection;
  readonly schema: QuerySchema;
  readonly principal: Principal;
}

/**
 * Whether a rule may see writes to other records in its own collection, or reads the write's body. Views may read any
 * collection. True for a rule that does not parse.
 */
export function seesWrites(rule: string, { collection, schema, principal }: Place): boolean {
  try {
    const expression = parse(rule);
    const caller = callerCollection(principal, schema);
    const origin = { collection, schema, accounts: caller ? [caller] : [] };
    const isSeen = (other: Collection | undefined) => !other || other.id === collection.id || other.type === 'view';
    return (
      existsIn(expression).some(({ collection: name }) => isSeen(schema.findCollection(name))) ||
      operandsIn(expression).some((placed) => readsBody(placed) || othersIn(placed, origin).some(isSeen))
    );
  } catch (error) {
    if (error instanceof QueryError) return true;
    throw error;
  }
}

const readsBody = ({ operand }: PlacedOperand): boolean => operand.kind === 'request' && operand.segments[0] === 'body';
