import { findUserById, refuseSignIn } from '@recordbus/accounts';
import type { Database } from '@recordbus/database';
import { AppError, notFound } from '@recordbus/errors';
import type { QuerySchema } from '@recordbus/query';
import type { Collection, Rule } from '@recordbus/schema';
import { isRecordId } from '../record/record-id.ts';
import type { Verdict } from './try-rule.ts';

interface SignInTrialDeps {
  readonly database: Pick<Database, 'query'>;
  readonly schema: QuerySchema;
}

/** Tries a `sign_in_rule` for an account, with the code that sign-ins use. Throws 404. */
export async function trySignIn(
  { database: { query }, schema }: SignInTrialDeps,
  saved: Collection,
  { rule, id }: { readonly rule: Rule; readonly id: string },
): Promise<Verdict> {
  const collection = { ...saved, rules: { ...saved.rules, sign_in: rule } };
  if (!isRecordId(id) || !(await findUserById(query, collection, id))) throw notFound('record');
  const verdict = { records: null, total: null };
  try {
    await refuseSignIn(query, { schema }, collection, id);
    return { admitted: true, reason: null, ...verdict };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'sign_in_refused') throw error;
    return { admitted: false, reason: error.message, ...verdict };
  }
}
