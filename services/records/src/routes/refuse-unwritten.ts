import { type AppError, notFound, preconditionFailed } from '@recordbus/shared/errors';
import { etagOf } from '../record/etag.ts';
import type { Unwritten } from '../write/written-record.ts';

/** The answer to a write that found nothing to write on: 404, or 412 with the current ETag. */
export const refuseUnwritten = (result: Unwritten): AppError =>
  result.outcome === 'missing' ? notFound('record') : preconditionFailed(etagOf(result.updatedAtSec));
