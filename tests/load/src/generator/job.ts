/** A load: on each of several connections, one request after the other. */
export interface Job {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly seconds: number;
  readonly connections: number;
  /** How long to wait for an answer, in seconds, until the connection is reopened; 10 by default. */
  readonly timeoutSec?: number;
  readonly requests: Requests;
}

/** The n-th request has the n-th path and the n-th body. Each list starts over at its end. */
export interface Requests {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly paths: readonly string[];
  readonly bodies?: readonly (string | Uint8Array)[];
  /** Client addresses that the requests claim in turn, for a server that trusts this machine as a proxy. */
  readonly clients?: readonly string[];
  /** Tokens that the requests send in turn. */
  readonly tokens?: readonly string[];
  /** Whether each request has its own idempotency key. */
  readonly keyed?: boolean;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the run after the last path: deletes cannot be repeated. */
  readonly once?: boolean;
}

export interface JobResult {
  readonly requestsPerSec: number;
  /** How long each answer took, in milliseconds. */
  readonly latenciesMs: Float64Array;
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Requests without an answer. */
  readonly unanswered: number;
}
