import { authorise } from '@recordbus/shared/http';
import type { Step } from './exchange.ts';

/**
 * Refuses a caller that the route's declaration does not admit. The service would refuse it too, but in a process of its
 * own only once the body has begun to arrive: who asks before sending one (`Expect: 100-continue`) is told here.
 */
export const admitCaller: Step = (_request, response, next) => {
  const { route, refusal, context } = response.locals.exchange;
  if (route && !refusal) authorise(route.access, context);
  next();
};
