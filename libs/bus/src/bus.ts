import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { StreamPublisher } from './stream-publisher.ts';

/** A topic for notices to all replicas. A notice may be lost, so its listeners poll too. */
export type NoticeTopic =
  | 'schema'
  | 'settings'
  | 'outbox'
  | 'extension-jobs'
  | 'webhooks'
  | 'replays'
  | 'mail'
  | 'accounts'
  | 'account-hooks'
  | 'routes'
  | 'jobs'
  | 'erasures';

/** A topic for messages to all replicas. A message may be lost. */
export type MessageTopic = 'broadcast' | 'presence' | 'consistency';

/** The key under which this package finds a connection's clients. Nothing else has it: it is not exported. */
export const nats = Symbol('nats');

/** A connection's clients, for this package alone. */
export interface NatsClients {
  /** Publishes a message to a stream. Also throws 503 while there is no connection. */
  readonly publishToStream: StreamPublisher['publish'];
  /** The client that consumes streams. Throws 503 while there is no connection. */
  jetstream(): JetStreamClient;
  /** The client that manages streams and consumers. Throws 503 while there is no connection. */
  jetstreamManager(): Promise<JetStreamManager>;
  /**
   * Returns the names of a stream's consumers, at once even while cluster servers are down. Throws JetStream's
   * refusals, and 503 while there is no connection.
   */
  consumerNames(stream: string): Promise<string[]>;
}

/** The connection to NATS. It reconnects without limit; a bus that is down fails neither a start nor a write. */
export interface Bus {
  /** Notifies all replicas about a change. Best effort, coalesced, never waits, never throws. */
  notify(topic: NoticeTopic): void;
  /**
   * Calls the handler for each notice from this and other processes, and once after a reconnect, since notices may have
   * been missed. Returns a function that removes the handler.
   */
  onNotice(topic: NoticeTopic, handler: () => void): () => void;
  /** Sends a text to all processes' subscribers. Best effort, never waits, never throws. */
  publish(topic: MessageTopic, text: string): void;
  /**
   * Calls the handler for each message from this and other processes. This process's messages arrive even while the bus
   * is down. Returns a function that removes the handler.
   */
  subscribe(topic: MessageTopic, handler: (text: string) => void): () => void;
  /**
   * Asks the process that answers at a place. Undefined if no process does. Throws 413 for a text that the server does not
   * take, and 503 without a connection or an answer.
   */
  ask(place: string, text: string): Promise<string | undefined>;
  /**
   * Answers what other processes ask at a place, whose name is one token of a subject that nobody else chooses. Returns a
   * function that ends it.
   */
  answerAt(place: string, answer: (text: string) => Promise<string>): () => void;
  /** Throws 503 when the server does not answer. */
  ping(): Promise<void>;
  /** Whether there is a connection now. */
  readonly connected: boolean;
  /** Counts the connections made; facts about the server hold for one generation. */
  readonly generation: number;
  /** Milliseconds since the first connect; 0 before it. */
  readonly connectedForMs: number;
  /** Calls the handler after each connect, at once if connected. Returns a function that removes the handler. */
  onConnect(handler: () => void): () => void;
  readonly [nats]: NatsClients;
  /** The largest message that the server accepts, headers included. Throws 503 while there is no connection. */
  maxPayloadBytes(): number;
  /** The server's version. Throws 503 while there is no connection. */
  serverVersion(): string;
  /** Flushes pending messages and closes the connection. */
  close(): Promise<void>;
}
