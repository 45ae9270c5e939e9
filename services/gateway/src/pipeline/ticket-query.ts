import { AppError, malformed } from '@recordbus/errors';
import { splitUrl } from '@recordbus/http';

/** A target without its ticket, and the ticket. */
interface TakenTicket {
  readonly url: string;
  readonly ticket: string;
}

/** Names under which other products' clients send session tokens. */
const tokenNames = new Set(['token', 'access_token']);

/** A signed token's three parts, of which the first is a JSON object. */
const tokenShape = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const longestTokenLength = 4096;

/**
 * Removes the ticket from a request target; undefined if it has none. Throws 400 for a token in the query, and 401 for
 * two tickets (http §6.6).
 */
export function takeTicket(target: string): TakenTicket | undefined {
  const { path, search } = splitUrl(target);
  if (search === '') return undefined;
  const tickets: string[] = [];
  const others = search.split('&').filter((part) => {
    const [[name, value] = ['', '']] = new URLSearchParams(part);
    if (name === 'ticket') tickets.push(value);
    else if (tokenNames.has(name) || looksLikeToken(value)) throw tokenInUrl();
    return name !== 'ticket';
  });
  const [ticket] = tickets;
  if (ticket === undefined) return undefined;
  if (tickets.length > 1) throw ticketRefused();
  return { url: others.length > 0 ? `${path}?${others.join('&')}` : path, ticket };
}

const looksLikeToken = (value: string): boolean =>
  value.startsWith('eyJ') && value.length <= longestTokenLength && tokenShape.test(value);

const tokenInUrl = () =>
  new AppError(
    400,
    'token_in_url',
    'a token never goes into a URL: request a ticket, or send the Authorization header',
  );

/** 401: the ticket opens no connection. */
export const ticketRefused = () =>
  new AppError(401, 'ticket_refused', 'the ticket is wrong, expired or used: request another', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });

/** 400: a ticket and a token could name two callers. */
export const ticketAndToken = () => malformed('send a ticket or the Authorization header, not both');
