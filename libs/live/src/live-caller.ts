import type { Principal } from '@recordbus/shared/context';

/** The caller of a subscription, with the parts of the request that rules may read. */
export interface LiveCaller {
  readonly principal: Principal;
  /** The address of the client. Guests take turns by it, and guests without one count as one client. */
  readonly address?: string | undefined;
  /** The headers of the request, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The query of the request, without the subscriptions and the ticket. */
  readonly query: Readonly<Record<string, string>>;
}
