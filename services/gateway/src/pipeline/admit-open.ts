import type { IncomingMessage } from 'node:http';
import { AppError } from '@recordbus/errors';
import { upgradeHead } from '@recordbus/http';
import type { Accounts } from '@recordbus/sessions';
import type { Tickets } from '@recordbus/tokens';
import type { CorsPolicy } from '../cors/cors-policy.ts';
import type { SessionUse } from '../session-use/session-use.ts';
import type { GatewayExchange } from './exchange.ts';
import { takeTicket, ticketAndToken, ticketRefused } from './ticket-query.ts';
import { findWebSocketRefusal } from './web-socket-refusal.ts';

interface AdmitOpenDeps {
  readonly corsPolicy: () => CorsPolicy;
  readonly tickets: Pick<Tickets, 'verify'>;
  readonly accounts: Pick<Accounts, 'findPrincipal'>;
  readonly sessionUse: Pick<SessionUse, 'note'>;
}

/**
 * Checks a request for a connection that stays open: a WebSocket's handshake, and the ticket, which sets the principal
 * and is removed from the URL (http §6.6). A refusal waits until the rate limit has counted it.
 */
export type AdmitOpen = (request: IncomingMessage, exchange: GatewayExchange) => Promise<void>;

/** Creates the check. It is part of the authenticating step, since a separate step would cost every request. */
export function createAdmitOpen({ corsPolicy, tickets, accounts, sessionUse }: AdmitOpenDeps): AdmitOpen {
  async function identifyByTicket(request: IncomingMessage, exchange: GatewayExchange): Promise<void> {
    const taken = takeTicket(request.url ?? '');
    if (!taken) return;
    request.url = taken.url;
    if (request.headers.authorization !== undefined) throw ticketAndToken();
    const ticket = await tickets.verify(taken.ticket);
    const principal = ticket && (await accounts.findPrincipal(ticket.session));
    if (!principal || principal.type === 'guest') throw ticketRefused();
    if (ticket.session.sessionId) sessionUse.note(ticket.session.sessionId);
    exchange.ticket = ticket;
    exchange.context = { ...exchange.context, principal };
  }

  return async (request, exchange) => {
    if (exchange.refusal) return;
    try {
      if (upgradeHead(request)) exchange.refusal = findWebSocketRefusal(request, exchange.route, corsPolicy());
      if (!exchange.refusal) await identifyByTicket(request, exchange);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      exchange.refusal = error;
    }
  };
}
