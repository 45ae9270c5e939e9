import type { Slotted } from './slots.ts';

/** A request that holds a connection to a service. */
export interface HeldConnection extends Slotted {
  /** The client, as rate limits count it. */
  readonly client: string;
  readonly sinceMs: number;
  /** Whether the service waits for the client: for the rest of the body, or until the client reads. */
  isClientSlow(): boolean;
  /** Cuts the connections of the request. */
  cut(): void;
  /** Ends an answer that has begun where it is, and the connection to the service. */
  end(): void;
}

/** Learns which requests hold a connection. */
export interface HeldConnections {
  add(held: HeldConnection): void;
  remove(held: HeldConnection): void;
}
