const healthPath = '/api/v1/health';
const livePath = '/api/v1/realtime';

/** The interval between checks while the stack does not answer. */
const probeMs = 1500;

type Fetch = typeof globalThis.fetch;

/** Tracks whether the stack answers. A failed request starts checks that repeat until the stack answers. */
class Connection {
  isAway = $state(false);
  /** Whether the last request for live changes succeeded. */
  isLive = $state(false);
  /** How many live-change requests succeeded. Revoking a session ends its live connection. */
  lives = $state(0);
  /** How often the stack came back. Failed loads then run again. */
  returns = $state(0);
  #isWatching = false;
  #plain: Fetch = globalThis.fetch.bind(globalThis);

  /** Returns a `fetch` that notices when there is no answer. */
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
        // An aborted request says nothing about the stack.
        if (!isAnswer && !init?.signal?.aborted) void this.check();
      }
    };
  }

  /** Checks until the stack answers. A single lost request does not count as an outage. */
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

/** Whether a proxy answered instead of the stack, whose answers with these statuses are always JSON. */
const isOfProxy = ({ status, headers }: Response): boolean =>
  status >= 502 && status <= 504 && !headers.get('content-type')?.includes('json');

const answers = (plain: Fetch): Promise<boolean> =>
  plain(healthPath, { signal: AbortSignal.timeout(5000) }).then(
    (response) => !isOfProxy(response),
    () => false,
  );
