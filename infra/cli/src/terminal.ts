/** Where a command's words go: what it found to standard output, what it does meanwhile to standard error. */
export interface Terminal {
  /** The outcome: as one line of JSON with --json, else as the text. */
  report(value: unknown, text: string): void;
  /** A word on the way. */
  note(text: string): void;
  /** Why it failed: the shape of the API's errors with --json, else a sentence. */
  refuse(refusal: Refusal): void;
}

export interface Refusal {
  readonly error: string;
  readonly code: string;
  readonly details?: Record<string, unknown> | undefined;
}

/** Makes the terminal of a command. */
export function createTerminal(asJson: boolean): Terminal {
  return {
    report: (value, text) => {
      process.stdout.write(`${asJson ? JSON.stringify(value) : text}\n`);
    },
    note: (text) => {
      process.stderr.write(`${text}\n`);
    },
    refuse(refusal) {
      const places = Object.entries(refusal.details ?? {}).map(([place, what]) => `\n  ${place}: ${wordsOf(what)}`);
      process.stderr.write(`${asJson ? JSON.stringify(refusal) : `${refusal.error}${places.join('')}`}\n`);
    },
  };
}

const wordsOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
