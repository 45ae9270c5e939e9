import { sendError } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { logFields } from '@recordbus/shared/request-scope';
import type { ErrorStep } from './exchange.ts';

/** Answers an error that a step threw. Express recognizes an error handler by its four parameters. */
export const answerError =
  (log: Logger): ErrorStep =>
  (error, request, response, _next) => {
    sendError(request, response, error, log, logFields(response.locals.exchange.context));
  };
