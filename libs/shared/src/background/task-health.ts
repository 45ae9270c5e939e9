/** How a background task is doing. */
export interface TaskHealth {
  /** Runs that failed since the last one that succeeded. */
  readonly failures: number;
  /** What the last failed run threw; undefined while runs succeed. */
  readonly lastError: unknown;
  /** End of the last run that succeeded, in milliseconds since the epoch; undefined before the first. */
  readonly lastSuccessAtMs: number | undefined;
}

/** The part of a logger that a task uses. */
export type TaskLog = Readonly<Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>>;

/** What the log lines of a task say. */
export interface TaskLines {
  /** What the task does, in the words that follow "cannot": `remove expired sessions`. */
  readonly name: string;
  readonly log: TaskLog;
  /** What holds while the task fails, as the second half of its line: `the last copy stays in use`. */
  readonly meanwhile?: string;
  /** Level of the line about a failure; `warn` when not given. */
  readonly level?: 'debug' | 'warn' | 'error';
  /** Fields of the line about a failure. */
  readonly fields?: () => object;
}

/** While a task fails, the log says so this often. */
const remindMs = 60_000;

/** Keeps the health of a task, and logs its failures and recoveries: once each, and once a minute while it fails. */
export function createTaskHealth({ name, log, meanwhile, level = 'warn', fields = () => ({}) }: TaskLines) {
  let health: TaskHealth = { failures: 0, lastError: undefined, lastSuccessAtMs: undefined };
  let remindAtMs = 0;
  const sentence = meanwhile === undefined ? `cannot ${name}` : `cannot ${name}; ${meanwhile}`;

  return {
    current: () => health,
    succeeded(): void {
      if (health.failures > 0)
        log[level === 'debug' ? 'debug' : 'info']({ failures: health.failures }, `can ${name} again`);
      health = { failures: 0, lastError: undefined, lastSuccessAtMs: Date.now() };
    },
    failed(error: unknown): void {
      health = { ...health, failures: health.failures + 1, lastError: error };
      const { failures } = health;
      if (failures > 1 && Date.now() < remindAtMs) return;
      remindAtMs = Date.now() + remindMs;
      log[level]({ ...fields(), err: error, failures }, sentence);
    },
  };
}
