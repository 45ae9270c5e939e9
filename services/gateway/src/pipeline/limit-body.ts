import { payloadTooLarge } from '@recordbus/errors';
import { bodyLimitOf, declaredBodyBytes } from '@recordbus/http';
import type { Step } from './exchange.ts';

/**
 * Refuses a body whose declared length is too large for its route; a body without a declared length is measured when it
 * is read.
 */
export const limitBody: Step = (request, response, next) => {
  const { route } = response.locals.exchange;
  if (route) {
    const limitBytes = bodyLimitOf(request, route);
    if (declaredBodyBytes(request) > limitBytes) throw payloadTooLarge(limitBytes);
  }
  next();
};
