const healthPath = '/api/v1/health';
const livePath = '/api/v1/realtime';

/** The wait between two questions whether the stack answers again. */
const probeMs = 1500;

type Fetch = typeof globalThis.fetch;

/** Whether the stack answers. Requests notice that it does not; while it does not, the pages ask until it does. */
class Connection {
  isAway = $state(false);
  /** Whether the last request for live changes was answered. */
  isLive = $state(false);
  /** How often live changes were asked for with success. A session that is revoked ends the connection that it had. */
  lives = $state(0);
  /** How often the stack has come back. What could not be loaded is loaded again then. */
  returns = $state(0);
  #isWatching = false;
  #plain: Fetch = globalThis.fetch.bind(globalThis);

  /** Returns a `fetch` that notices whether there is an answer. */
  watched(plain: Fetch): Fetch {
    this.#plain = plain;
    return async (input, init) => {
      const isLive = new URL(String(input), location.origin).pathname === livePath;
      let response: Response | undefined;
      try {
        response = await plain(input, init);
        return response;
      } finally {
        const isAnswer = response !== undefined && !isOfProxy(response);
        if (isLive) this.isLive = response?.ok === true;
        if (isLive && this.isLive) this.lives += 1;
        // A request that was given up says nothing.
        if (!isAnswer && !init?.signal?.aborted) void this.check();
      }
    };
  }

  /** Asks until there is an answer. One request that was lost is no reason to say so. */
  async check(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    while (!(await answers(this.#plain))) {
      this.isAway = true;
      await new Promise((resolve) => setTimeout(resolve, probeMs));
    }
    this.#isWatching = false;
    if (!this.isAway) return;
    this.isAway = false;
    this.returns += 1;
  }
}

export const connection = new Connection();

/** Whether a proxy answers in the place of the stack: all that the stack answers to these is JSON. */
const isOfProxy = ({ status, headers }: Response): boolean =>
  status >= 502 && status <= 504 && !headers.get('content-type')?.includes('json');

const answers = (plain: Fetch): Promise<boolean> =>
  plain(healthPath, { signal: AbortSignal.timeout(5000) }).then(
    (response) => !isOfProxy(response),
    () => false,
  );
