/** A server of the tests' own, at the same address over its restarts. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  /** Ends it as an operator would, its data kept. */
  stop(): Promise<void>;
  /** Ends it as a crash would, its data kept. */
  kill(): Promise<void>;
  /** Stops its clock: connections stay, nobody answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Ends it as a crash would and starts it without its data, as after a lost disk. */
  wipe(): Promise<void>;
  /** Starts it again on its data. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}
