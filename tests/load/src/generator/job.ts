/** A load: requests that are sent one after the other on each of some connections. */
export interface Job {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly seconds: number;
  readonly connections: number;
  readonly requests: Requests;
}

/** The n-th request takes the n-th path and the n-th body, each list starting over at its end. */
export interface Requests {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly paths: readonly string[];
  readonly bodies?: readonly string[];
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the run where the paths would start over: what is deleted can't be deleted again. */
  readonly once?: boolean;
}

/** What came of a job. */
export interface Outcome {
  readonly requestsPerSec: number;
  /** Of each answered request, in milliseconds. */
  readonly latenciesMs: Float64Array;
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Requests without an answer. */
  readonly unanswered: number;
}
