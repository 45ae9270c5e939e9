import type { Query } from '@recordbus/database';
import { type AppError, forbidden } from '@recordbus/errors';
import { createParameters, type Parameters, type QuerySchema } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import { accountCondition, compileAccountRule } from './account-rule.ts';

/** Whether only some accounts of the collection may sign in (auth §4.5). */
export const hasSignInRule = ({ rules }: Pick<Collection, 'rules'>): boolean => rules.sign_in != null;

/**
 * Compiles the collection's `sign_in_rule` to a condition on the stored row with the alias; undefined if every account may
 * sign in. Throws QueryError for a rule that cannot be compiled.
 */
export function compileSignInRule(
  collection: Collection,
  schema: QuerySchema,
  { row, parameters }: { readonly row: string; readonly parameters: Parameters },
): string | undefined {
  const rule = collection.rules.sign_in ?? null;
  if (rule === null) return undefined;
  if (rule === '') return 'false';
  return compileAccountRule(rule, collection, schema, { row, parameters });
}

/** Throws 403 if the collection's `sign_in_rule` does not admit the account. Without a rule it runs no statement. */
export async function refuseSignIn(
  query: Query,
  { schema }: { readonly schema: QuerySchema },
  collection: Collection,
  accountId: string,
): Promise<void> {
  if (!hasSignInRule(collection)) return;
  if (!(await mayEnter(query, schema, collection, accountId))) throw signInRefused();
}

async function mayEnter(query: Query, schema: QuerySchema, collection: Collection, id: string): Promise<boolean> {
  const parameters = createParameters();
  const condition = signInCondition(collection, schema, parameters) ?? 'true';
  const rows = await query({
    text: `select from ${tableOf(collection)} a where a.id = ${parameters.fixed(id, 'text')} and ${condition}`,
    checksRule: true,
    values: parameters.values(),
  });
  return rows.length > 0;
}

/**
 * Returns the rule as a condition on the row `a`, for a door: a rule that cannot be compiled, such as one whose fields
 * have just changed, admits nobody. Undefined without a rule.
 */
export function signInCondition(
  collection: Collection,
  schema: QuerySchema,
  parameters: Parameters,
): string | undefined {
  const rule = collection.rules.sign_in ?? null;
  if (rule === null) return undefined;
  if (rule === '') return 'false';
  return accountCondition(rule, collection, schema, { row: 'a', parameters, otherwise: false });
}

const signInRefused = (): AppError => forbidden('the account may not sign in', 'sign_in_refused');
