import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';

/** Something that concerns every replica at once and is only a hint: whoever misses it polls. */
export type NoticeTopic =
  | 'schema'
  | 'settings'
  | 'outbox'
  | 'webhooks'
  | 'mail'
  | 'accounts'
  | 'account-hooks'
  | 'routes';

/** The connection to NATS. It reconnects for ever; a bus that is down never fails a start or a write. */
export interface Bus {
  /** Tells every other replica that something changed. Best effort, coalesced, never waits, never throws. */
  notify(topic: NoticeTopic): void;
  /**
   * Calls the handler for each notice of other processes and of this one, and once after a reconnect, since notices
   * may have been missed. Returns a function that ends it.
   */
  onNotice(topic: NoticeTopic, handler: () => void): () => void;
  /** Throws when the server does not answer. */
  ping(): Promise<void>;
  /** Is there a connection now? */
  readonly connected: boolean;
  /** Grows with every connection that is made: what was learnt about the server is good for one generation. */
  readonly generation: number;
  /** Calls the handler after each connection that is made, at once if there is one. Returns a function that ends it. */
  onConnect(handler: () => void): () => void;
  /** Publishing and consuming on streams. Throws 503 while there is no connection. */
  jetstream(): JetStreamClient;
  /** Managing streams and consumers. Throws 503 while there is no connection. */
  jetstreamManager(): Promise<JetStreamManager>;
  /** Largest message that the server takes, headers included. Throws 503 while there is no connection. */
  maxPayloadBytes(): number;
  /** The version of the server. Throws 503 while there is no connection. */
  serverVersion(): string;
  /** Hands over what is under way and ends the connection. */
  close(): Promise<void>;
}
