import { hasAccounts } from '@recordbus/accounts';
import { type Captchas, takeAnswer } from '@recordbus/captcha';
import { AppError } from '@recordbus/errors';
import type { RequestKey } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import type { Call } from '../rules/rule-context.ts';

type Caller = Pick<Call, 'principal' | 'clientAddress' | 'passesRules'>;

/** Whether a new record in the collection is an account whose creation asks this caller for a captcha (auth §10.3). */
export const asksForCaptcha = (captchas: Captchas, collection: Collection, caller: Caller): boolean =>
  hasAccounts(collection) && caller.passesRules !== true && captchas.asksCaller(collection, 'register', caller);

/** 422 for an account that a request creates otherwise than alone. */
export const captchaAlone = () => {
  const message = 'is required: create the account by a POST of its own';
  return new AppError(422, 'captcha_required', `captcha ${message}`, { details: { captcha: message } });
};

interface CreateInput {
  readonly body: Readonly<Record<string, unknown>>;
  readonly context: Caller;
  readonly key?: RequestKey | undefined;
  header(name: string): string | undefined;
}

/**
 * Demands a create's captcha, and returns the body without it. A repeated request has its first answer, so it solves
 * none: its answer is used up.
 */
export async function demandCaptcha(
  captchas: Captchas,
  collection: Collection,
  { body: sent, context, key, header }: CreateInput,
): Promise<Pick<Call, 'hasSolvedCaptcha'> & { readonly body: CreateInput['body'] }> {
  if (!asksForCaptcha(captchas, collection, context)) return { body: sent };
  const { answer, body } = takeAnswer(collection, { body: sent, header });
  if (key && !(await key.findUnused())) return { body };
  await captchas.demand(collection, 'register', answer, context);
  return { body, hasSolvedCaptcha: true };
}
