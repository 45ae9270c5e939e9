import { hkdfSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';
import { importTokenKey, type Session } from './session-token.ts';

/** A ticket's content, which opens one connection in place of a session's token (http §6.6). */
export interface Ticket {
  /** Identifies a used ticket. */
  readonly id: string;
  /** The session, without its account's address: URLs carry tickets into logs. Look the principal up by it. */
  readonly session: Session;
  readonly expiresAtSec: number;
}

/** Signs and verifies tickets. */
export interface Tickets {
  /** Returns a ticket that ends after 30 s, or with the session's token. */
  sign(session: Session): Promise<{ readonly ticket: string; readonly expiresAtSec: number }>;
  /** Returns undefined for a text that is forged, expired, another kind's token, or not a token. */
  verify(ticket: string): Promise<Ticket | undefined>;
}

const windowSec = 30;
const ticketType = 'ticket+jwt';
const audience = 'ticket';

/** Longer texts are refused without a check, since no real ticket is that long. */
const maxTicketLength = 2048;

const ticketClaims = z.object({
  jti: z.string().min(1),
  exp: z.int(),
  type: z.enum(['admin', 'user']),
  id: z.string().min(1),
  collection: z.string().optional(),
  impersonated_by: z.string().optional(),
  tv: z.int().nonnegative(),
  sid: z.string().optional(),
  session_exp: z.int(),
});

/**
 * Creates the signer and verifier from the deployment's token secret (raw bytes); `clock` returns milliseconds. The key
 * is derived, so no other kind of token is accepted, whatever its claims.
 */
export function createTickets(secret: Uint8Array, clock: () => number = Date.now): Tickets {
  const key = importTokenKey(new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus connection ticket', 32)));
  return {
    async sign(session) {
      const issuedAtSec = Math.floor(clock() / 1000);
      const expiresAtSec = Math.min(issuedAtSec + windowSec, session.expiresAtSec);
      const ticket = await new SignJWT(toClaims(session))
        .setProtectedHeader({ alg: 'HS256', typ: ticketType })
        .setAudience(audience)
        .setIssuedAt(issuedAtSec)
        .setExpirationTime(expiresAtSec)
        .setJti(randomUUID())
        .sign(await key);
      return { ticket, expiresAtSec };
    },

    async verify(ticket) {
      if (ticket.length > maxTicketLength) return undefined;
      try {
        const { payload } = await jwtVerify(ticket, await key, {
          algorithms: ['HS256'],
          audience,
          typ: ticketType,
          currentDate: new Date(clock()),
        });
        const claims = ticketClaims.parse(payload);
        return { id: claims.jti, session: toSession(claims), expiresAtSec: claims.exp };
      } catch {
        // Every error means a bad ticket: jose throws plain TypeErrors too.
        return undefined;
      }
    },
  };
}

function toClaims({ principal, tokenVersion, sessionId, expiresAtSec }: Session): Record<string, unknown> {
  return {
    type: principal.type,
    id: principal.id,
    ...(principal.type === 'user' && {
      collection: principal.collection,
      ...(principal.impersonatedBy !== null && { impersonated_by: principal.impersonatedBy }),
    }),
    tv: tokenVersion,
    ...(sessionId && { sid: sessionId }),
    session_exp: expiresAtSec,
  };
}

function toSession(claims: z.output<typeof ticketClaims>): Session {
  const { type, id, collection = '', impersonated_by: impersonatedBy = null } = claims;
  return {
    principal:
      type === 'admin'
        ? { type, id, email: '' }
        : { type, id, email: '', collection, anonymous: false, impersonatedBy },
    tokenVersion: claims.tv,
    sessionId: claims.sid,
    expiresAtSec: claims.session_exp,
  };
}
