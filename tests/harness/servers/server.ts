/** A server that tests can stop and restart at the same address. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  /** Stops it as an operator does, and keeps its data. */
  stop(): Promise<void>;
  /** Kills it, as a crash does, and keeps its data. */
  kill(): Promise<void>;
  /** Freezes it: connections stay open, but it does not answer. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Kills it and starts it without its data, as after a lost disk. */
  wipe(): Promise<void>;
  /** Starts it again on its data. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}
