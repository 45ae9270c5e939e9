import { type AppError, notFound, preconditionFailed } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import { etagOf } from '../record/etag.ts';
import { ruleRefusal } from '../rules/authorize.ts';

/** Why nothing was written: the record does not exist, the rule does not hold for it, or it has another version. */
export type WriteFailure =
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'mismatch'; readonly version: string };

/** The refusal for a write that failed: 404; 403 or 401 for the rule; 412 with the current ETag. */
export function failureError(failure: WriteFailure, { principal }: { readonly principal: Principal }): AppError {
  if (failure.outcome === 'missing') return notFound('record');
  return failure.outcome === 'refused' ? ruleRefusal(principal) : preconditionFailed(etagOf(failure.version));
}
