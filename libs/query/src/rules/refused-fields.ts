import type { Principal } from '@recordbus/request/context';
import { type Collection, quoteLiteral } from '@recordbus/schema';
import { QueryError } from '../query-error.ts';
import { callerCollection } from '../resolve/caller-collection.ts';
import type { FieldAccess } from '../resolve/field-access.ts';
import type { QuerySchema } from '../resolve/scope.ts';
import { compileExpression } from '../sql/expressions.ts';
import type { SqlTarget } from '../sql/sql-target.ts';

/** The fields whose rules are evaluated, and for whom. */
interface FieldQuestion {
  readonly collection: Collection;
  readonly schema: QuerySchema;
  readonly principal: Principal;
  readonly access: FieldAccess;
  /** Field names (SQL, text[]); every conditional field by default. */
  readonly names?: string;
}

/** SQL (text[]) for the conditional fields whose rule does not hold for the row at `into`. */
export function refusedFieldsSql(
  { collection, schema, principal, access, names }: FieldQuestion,
  into: SqlTarget,
): string {
  const scope = { collection, schema, audience: 'rule', caller: callerCollection(principal, schema) } as const;
  const isNamed = (name: string) => (names === undefined ? '' : `${name} = any(${names}) and `);
  const cases = [...access.conditional].map(([field, rule]) => {
    const name = quoteLiteral(field);
    return `case when ${isNamed(name)}(${conditionOf(rule)}) is not true then ${name} end`;
  });
  return `array_remove(array[${cases.join(', ')}]::text[], null)`;

  function conditionOf(rule: string): string {
    try {
      return compileExpression(rule, scope, into);
    } catch (error) {
      // A rule that cannot be compiled, such as one whose fields another replica has just changed, admits nobody.
      if (error instanceof QueryError) return 'false';
      throw error;
    }
  }
}
