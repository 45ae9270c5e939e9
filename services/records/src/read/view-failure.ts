import { isDatabaseError, sqlState, textOfRefused } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import { type Collection, tableOf } from '@recordbus/schema';

interface ViewFailureDeps {
  readonly collections: () => readonly Collection[];
  readonly log: Logger;
}

/** Returns the refusal for an error in a view's data; undefined for any other error. */
export type ExplainViewFailure = (error: unknown) => AppError | undefined;

/**
 * Creates the function. A view computes with its tables' current data, so any statement that reads a view may fail on a
 * value that the caller may not see. The database's message names that value, so it is only logged (views §5.2).
 */
export const createExplainViewFailure =
  ({ collections, log }: ViewFailureDeps): ExplainViewFailure =>
  (error) => {
    if (!isDatabaseError(error) || !isDataError(error.code)) return undefined;
    const text = textOfRefused(error) ?? '';
    const views = collections().filter(
      (collection) => collection.type === 'view' && text.includes(tableOf(collection)),
    );
    if (views.length === 0) return undefined;
    log.warn({ err: error, views: views.map(({ name }) => name) }, 'cannot compute a view from its data');
    return new AppError(422, 'view_failed', 'the view cannot be computed from its current data', {
      cause: error,
    });
  };

/**
 * Data exceptions, more than one row (21), and errors that functions raise (38, P0). A text with NUL is also a data
 * exception, but it came with the request.
 */
const isDataError = (code = ''): boolean =>
  /^(21|22|2F|38|39|P0)/.test(code) && code !== sqlState.characterNotInRepertoire;
