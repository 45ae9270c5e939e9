import type { Query } from '@recordbus/database';
import { createParameters, type Parameters, type QuerySchema } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import { accountCondition } from './account-rule.ts';

/**
 * Returns the setting `auth.mfa.required.<collection>` as a condition on the row `a` (auth §6.10). A rule that cannot be
 * compiled holds for every account.
 */
export const secondFactorCondition = (
  rule: string,
  collection: Collection,
  schema: QuerySchema,
  parameters: Parameters,
): string => accountCondition(rule, collection, schema, { row: 'a', parameters, otherwise: true });

/** Whether the account needs a second factor. Without a rule it runs no statement. */
export async function needsSecondFactor(
  query: Query,
  { schema, rule }: { readonly schema: QuerySchema; readonly rule: string },
  collection: Collection,
  accountId: string,
): Promise<boolean> {
  if (rule === '') return false;
  const parameters = createParameters();
  const condition = secondFactorCondition(rule, collection, schema, parameters);
  const rows = await query({
    text: `select from ${tableOf(collection)} a where a.id = ${parameters.fixed(accountId, 'text')} and ${condition}`,
    checksRule: true,
    values: parameters.values(),
  });
  return rows.length > 0;
}
