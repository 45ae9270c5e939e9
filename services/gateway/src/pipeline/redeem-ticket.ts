import type { Database } from '@recordbus/database';
import { mapDatabaseError } from '@recordbus/database';
import type { Accounts } from '@recordbus/sessions';
import { AppError } from '@recordbus/shared/errors';
import type { Ticket, Tickets } from '@recordbus/tokens';
import type { SessionUse } from '../session-use/session-use.ts';
import type { Step } from './exchange.ts';
import { takeTicket, ticketAndToken, ticketRefused } from './ticket-query.ts';

interface IdentifyDeps {
  readonly tickets: Pick<Tickets, 'verify'>;
  readonly accounts: Pick<Accounts, 'findPrincipal'>;
  readonly sessionUse: Pick<SessionUse, 'note'>;
}

/**
 * Sets the principal from the ticket of a request whose answer stays open, and removes the ticket from the URL (http
 * §6.6). It runs before `authenticate`, which removes the token. A refusal waits until the rate limit has counted it.
 */
export function identifyByTicket({ tickets, accounts, sessionUse }: IdentifyDeps): Step {
  return async (request, response, next) => {
    const { exchange } = response.locals;
    if (!exchange.route?.staysOpen || exchange.refusal) {
      next();
      return;
    }
    try {
      const taken = takeTicket(request.url);
      if (taken) {
        request.url = taken.url;
        if (request.headers.authorization !== undefined) throw ticketAndToken();
        const ticket = await tickets.verify(taken.ticket);
        const principal = ticket && (await accounts.findPrincipal(ticket.session));
        if (!principal || principal.type === 'guest') throw ticketRefused();
        if (ticket.session.sessionId) sessionUse.note(ticket.session.sessionId);
        exchange.ticket = ticket;
        exchange.context = { ...exchange.context, principal };
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      exchange.refusal = error;
    }
    next();
  };
}

/** Uses up a ticket; false for a used one. Of all gateways, only one gets true. */
export type UseTicket = (ticket: Ticket) => Promise<boolean>;

/** Creates the function that uses up tickets in the database, with the file tokens that are used up there too. */
export const useTicketsOf =
  ({ query }: Pick<Database, 'query'>): UseTicket =>
  async ({ id, expiresAtSec }) => {
    try {
      const rows = await query({
        name: 'use-ticket',
        // Kept for an hour after its expiry, since clocks may differ. The records service deletes what has expired.
        text: `insert into system.used_file_tokens (id, expires_at) values ($1, to_timestamp($2) + interval '1 hour')
on conflict (id) do nothing returning id`,
        values: [id, expiresAtSec],
      });
      return rows.length > 0;
    } catch (error) {
      throw mapDatabaseError(error) ?? error;
    }
  };

/** Uses up the ticket of a request that the rate limit has admitted. */
export const redeemTicket =
  (useTicket: UseTicket): Step =>
  async (_request, response, next) => {
    const { ticket, refusal } = response.locals.exchange;
    if (ticket && !refusal && !(await useTicket(ticket))) throw ticketRefused();
    next();
  };
