import { payloadTooLarge } from '@recordbus/shared/errors';
import { bodyLimitOf, declaredBodyBytes } from '@recordbus/shared/http';
import type { Step } from './exchange.ts';

/** Refuses a body that declares itself too large for its route; one of unknown length is measured where it is read. */
export const limitBody: Step = (request, response, next) => {
  const { route } = response.locals.exchange;
  if (route) {
    const limitBytes = bodyLimitOf(request, route);
    if (declaredBodyBytes(request) > limitBytes) throw payloadTooLarge(limitBytes);
  }
  next();
};
