import { unauthenticated } from '@recordbus/errors';
import { ok, type Route, route } from '@recordbus/http';
import { sessionOf } from '@recordbus/sessions';
import type { Tickets } from '@recordbus/tokens';
import { z } from 'zod';

/** `POST /api/v1/realtime/ticket`: a ticket for one connection from a page (realtime §1.5). */
export const ticketRoute = ({ tickets }: { readonly tickets: Pick<Tickets, 'sign'> }): Route =>
  route({
    method: 'POST',
    path: '/api/v1/realtime/ticket',
    access: 'session',
    scope: 'none',
    summary: 'Create a ticket that opens one live connection in place of a token',
    answers: { 200: z.object({ ticket: z.string(), expires: z.int().describe('seconds since 1970') }) },
    async handler({ context }) {
      const session = sessionOf(context.principal);
      if (!session) throw unauthenticated();
      const { ticket, expiresAtSec } = await tickets.sign(session);
      return ok({ ticket, expires: expiresAtSec });
    },
  });
