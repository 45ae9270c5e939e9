import type { Collection } from '@recordbus/schema';
import { ownerPrefix } from '../language/ast.ts';
import { operandsIn } from '../language/operands.ts';
import { parse } from '../language/parser.ts';
import { errorAt, QueryError } from '../query-error.ts';
import { findInOwner } from '../resolve/owner-path.ts';
import { resolve } from '../resolve/resolve.ts';
import type { Scope } from '../resolve/scope.ts';
import { compileExpression } from '../sql/expressions.ts';
import type { SqlTarget } from '../sql/sql-target.ts';

type RuleScope = Pick<Scope, 'collection' | 'schema'>;

/**
 * Checks a `webhook_rule` before its collection is saved (webhooks §9.2). Throws QueryError for one that cannot be compiled
 * for some owner, for a request value, and for an owner path that no collection has.
 */
export function checkWebhookRule(text: string, owners: readonly Collection[], scope: RuleScope): void {
  const expression = parse(text);
  for (const { operand } of operandsIn(expression)) {
    if (operand.kind === 'request')
      throw errorAt('cannot read @request: no caller receives an event', operand.position);
    if (
      operand.kind === 'owner' &&
      !owners.some((owner) => findInOwner(operand, { ...scope, audience: 'rule', owner }))
    )
      throw errorAt(`no record has ${ownerPrefix}${operand.segments.join('.')}`, operand.position);
  }
  for (const owner of owners) resolve(expression, { ...scope, audience: 'rule', owner });
}

/**
 * Compiles a `webhook_rule` to an SQL condition on an event's row, for owners in one collection. `ownerId` is the SQL of an
 * owner's id. A rule that cannot be compiled now holds for nobody: the result is undefined.
 */
export function compileWebhookRule(
  text: string,
  { owner, ...scope }: RuleScope & { readonly owner: Collection },
  into: SqlTarget,
  ownerId: string,
): string | undefined {
  const parameters: SqlTarget['parameters'] = {
    ...into.parameters,
    ofRequest: () => ownerId,
    get aliases() {
      return into.parameters.aliases;
    },
    get readsAccount() {
      return into.parameters.readsAccount;
    },
  };
  try {
    return compileExpression(text, { ...scope, audience: 'rule', owner }, { ...into, parameters });
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
