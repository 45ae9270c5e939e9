const header = 'X-Service-Consistency';

/** How long reads name the last write, in milliseconds. Every server has all older writes. */
const keptMs = 30_000;

/** The database's state after a client's last write, for the reads after it. */
export interface LastWrite {
  /** A request's headers. */
  headersFor(method: string): Readonly<Record<string, string>>;
  /** Keeps the state that an answer names. */
  note(answer: Headers): void;
}

/** Creates a new client's state. Answers may arrive in any order: a later state's text is greater. */
export function createLastWrite(): LastWrite {
  let state: string | undefined;
  let untilMs = 0;
  return {
    headersFor(method): Record<string, string> {
      return method === 'GET' && state !== undefined && Date.now() < untilMs ? { [header]: state } : {};
    },
    note(answer) {
      const named = answer.get(header);
      if (named === null) return;
      if (state === undefined || named > state || Date.now() >= untilMs) state = named;
      untilMs = Date.now() + keptMs;
    },
  };
}
