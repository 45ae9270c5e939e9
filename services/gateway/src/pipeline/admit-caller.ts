import { authorize } from '@recordbus/http';
import type { Step } from './exchange.ts';

/**
 * Refuses a caller that the route's declaration does not admit. The service would refuse it too, but a service in its
 * own process does so only after the body has begun to arrive, too late for a client with `Expect: 100-continue`.
 */
export const admitCaller: Step = (_request, response, next) => {
  const { route, params, refusal, context } = response.locals.exchange;
  if (route && !refusal) authorize(route, params, context);
  next();
};
