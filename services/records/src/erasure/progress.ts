import type { AppError } from '@recordbus/errors';
import { addCounts } from './clean-places.ts';
import type { Deleted } from './delete-for-good.ts';
import type { ErasureProgress } from './erasure.ts';
import type { Cleaned } from './place.ts';

const maxReasons = 10;

/** Adds what a delete removed. */
export const noteDeleted = (
  { counts, emails = [], provedEmails = [], ...rest }: ErasureProgress,
  deleted: Deleted,
): ErasureProgress => ({
  ...rest,
  counts: addCounts(counts, deleted),
  emails: [...new Set([...emails, ...deleted.emails])],
  provedEmails: [...new Set([...provedEmails, ...deleted.provedEmails])],
});

/** Adds what a place had. */
export const noteCleaned = (
  { counts, archives = [], ...rest }: ErasureProgress,
  { counts: more = {}, archives: ended = [] }: Cleaned,
): ErasureProgress => ({ ...rest, counts: addCounts(counts, more), archives: [...archives, ...ended] });

/** Adds a record that could not be deleted, of many. */
export function noteRefused(progress: ErasureProgress, recordId: string, { message }: AppError): ErasureProgress {
  const { count = 0, reasons = [] } = progress.refused ?? {};
  return {
    ...progress,
    refused: { count: count + 1, reasons: [...reasons, `${recordId}: ${message}`].slice(0, maxReasons) },
  };
}
