import type { Principal } from '@recordbus/request/context';

/** A subscription's caller, with the request parts that rules may read. */
export interface LiveCaller {
  readonly principal: Principal;
  /** The client's address. Guests take turns by it, and guests without one count as one client. */
  readonly address?: string | undefined;
  /** The request's headers, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request's query, without the subscriptions and the ticket. */
  readonly query: Readonly<Record<string, string>>;
}
