import type { Slotted } from './slots.ts';

/** A request that holds a connection to a service. */
export interface HeldConnection extends Slotted {
  /** The client, as rate limits count it. */
  readonly client: string;
  readonly sinceMs: number;
  /** Whether the service waits for the client: for the rest of the body, or until the client reads. */
  isClientSlow(): boolean;
  /** Cuts the request's connections. */
  cut(): void;
  /** Ends an answer that has begun after its last byte so far, and the connection to the service. */
  end(): void;
}

/** Notified when requests take and release connections. */
export interface HeldConnections {
  add(held: HeldConnection): void;
  remove(held: HeldConnection): void;
}
