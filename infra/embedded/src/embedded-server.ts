/** A server in the local stack. */
export interface EmbeddedServer {
  /** The URL with user, password and, for PostgreSQL, the database. */
  readonly url: string;
  readonly pid: number;
  /** Resolves with a sentence when the server ends by itself. */
  readonly exited: Promise<string>;
  /** Stops the server and waits until it has ended. */
  stop(): Promise<void>;
}
