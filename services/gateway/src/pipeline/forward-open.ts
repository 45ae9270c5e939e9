import type { IncomingMessage, ServerResponse } from 'node:http';
import { upgradeHead } from '@recordbus/http';
import type { RouteEntry } from '../routing/routing-table.ts';
import type { GatewayExchange } from './exchange.ts';
import type { OpenCounts } from './open-counts.ts';
import { ticketRefused } from './ticket-query.ts';
import type { UseTicket } from './use-ticket.ts';

interface ForwardOpenDeps {
  readonly openCounts: OpenCounts;
  readonly useTicket: UseTicket;
}

/** Forwards a request whose connection stays open, and resolves when its answer has begun. Throws 401 for a used ticket. */
export type ForwardOpen = (
  request: IncomingMessage,
  response: ServerResponse,
  route: RouteEntry,
  exchange: GatewayExchange,
) => Promise<void>;

/** Creates the function. It uses up a ticket last, when nothing else can refuse the request. */
export function createForwardOpen({ openCounts, useTicket }: ForwardOpenDeps): ForwardOpen {
  return async (request, response, { upstream }, { context, ticket }) => {
    if (ticket && !(await useTicket(ticket))) throw ticketRefused();
    const head = upgradeHead(request);
    const kind = head ? 'websocket' : 'stream';
    if (response.closed) return;
    openCounts.begin(kind);
    response.once('close', () => openCounts.end(kind));
    if (head) await upstream.upgrade(request, response, head, context);
    else await upstream.forwardOpen(request, response, context);
  };
}
