import type { Principal } from '@recordbus/shared/context';

/** Who subscribes, and what rules may read of the request that opened the connection. */
export interface LiveCaller {
  readonly principal: Principal;
  /** The address of the client, by which guests take turns. Guests without one are one client. */
  readonly address?: string | undefined;
  /** The headers of the request, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The query of the request, without the subscriptions and the ticket. */
  readonly query: Readonly<Record<string, string>>;
}
