/** Something that concerns every replica at once and is only a hint: whoever misses it polls. */
export type NoticeTopic = 'schema' | 'settings' | 'outbox' | 'webhooks';

/** The connection to NATS. It reconnects for ever; a bus that is down never fails a start or a write. */
export interface Bus {
  /** Tells every other replica that something changed. Best effort, never waits, never throws. */
  notify(topic: NoticeTopic): void;
  /** Calls the handler for each notice of other processes and of this one. */
  onNotice(topic: NoticeTopic, handler: () => void): void;
  /** Throws when the server does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
