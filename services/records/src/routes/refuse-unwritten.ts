import type { Principal } from '@recordbus/shared/context';
import { type AppError, notFound, preconditionFailed } from '@recordbus/shared/errors';
import { etagOf } from '../record/etag.ts';
import { ruleRefusal } from '../rules/authorise.ts';
import type { Unwritten } from '../write/written-record.ts';

/** The answer to a write that found nothing to write on: 404, 403 or 401 by the rule, or 412 with the current ETag. */
export function refuseUnwritten(result: Unwritten, principal: Principal): AppError {
  if (result.outcome === 'missing') return notFound('record');
  return result.outcome === 'refused' ? ruleRefusal(principal) : preconditionFailed(etagOf(result.updatedAtSec));
}
