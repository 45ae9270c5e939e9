import { splitUrl } from '@recordbus/shared/http';
import type { RoutingTable } from '../routing/routing-table.ts';
import type { Step } from './exchange.ts';

/** Finds the route of the request; what belongs to nobody is refused here. */
export const matchRoute =
  (table: RoutingTable): Step =>
  (request, response, next) => {
    response.locals.exchange.route = table.find(request.method, splitUrl(request.url).path);
    next();
  };
