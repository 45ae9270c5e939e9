import { AppError } from '@recordbus/errors';
import { splitUrl } from '@recordbus/http';
import type { RoutingTable } from '../routing/routing-table.ts';
import type { Step } from './exchange.ts';
import { requireHostOfFiles } from './files-host.ts';
import { requireHost, requirePlainTransfer, toOriginForm } from './request-head.ts';

/** Finds the request's route, or the refusal to answer. */
export const matchRoute =
  (table: RoutingTable, filesHost: () => string | undefined): Step =>
  (request, response, next) => {
    const { exchange } = response.locals;
    try {
      requireHost(request);
      requirePlainTransfer(request);
      request.url = toOriginForm(request.url);
      const { route, params } = table.find(request.method, splitUrl(request.url).path);
      exchange.route = route;
      exchange.params = params;
      const host = filesHost();
      if (host !== undefined) requireHostOfFiles(request, route, host);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      exchange.refusal = error;
    }
    next();
  };
