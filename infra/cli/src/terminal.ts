/** A command's output: the result to standard output, notes and errors to standard error. */
export interface Terminal {
  /** Writes the result: one line of JSON with --json, else the text. */
  report(value: unknown, text: string): void;
  /** Writes a note about progress. */
  note(text: string): void;
  /** Writes the error: in the API's error shape with --json, else as a sentence. */
  refuse(refusal: CommandRefusal): void;
}

export interface CommandRefusal {
  readonly error: string;
  readonly code: string;
  readonly details?: Record<string, unknown> | undefined;
}

/** Creates a command's terminal. */
export function createTerminal(asJson: boolean): Terminal {
  return {
    report: (value, text) => {
      process.stdout.write(`${asJson ? JSON.stringify(value) : text}\n`);
    },
    note: (text) => {
      process.stderr.write(`${text}\n`);
    },
    refuse(refusal) {
      const places = Object.entries(refusal.details ?? {}).map(([place, what]) => `\n  ${place}: ${textOf(what)}`);
      process.stderr.write(`${asJson ? JSON.stringify(refusal) : `${refusal.error}${places.join('')}`}\n`);
    },
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
