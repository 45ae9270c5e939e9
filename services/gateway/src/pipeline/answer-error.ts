import { sendError } from '@recordbus/http';
import type { Logger } from '@recordbus/process/logging';
import { logFields } from '@recordbus/request/request-scope';
import type { ErrorStep } from './exchange.ts';

/** Answers an error that a step threw. Express recognizes an error handler by its four parameters. */
export const answerError =
  (log: Logger): ErrorStep =>
  (error, request, response, _next) => {
    sendError(request, response, error, log, logFields(response.locals.exchange.context));
  };
