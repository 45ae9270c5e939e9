/** A background task's health. */
export interface TaskHealth {
  /** How many runs failed since the last successful one. */
  readonly failures: number;
  /** The last run's error; undefined if it succeeded. */
  readonly lastError: unknown;
  /** When the last successful run ended, in milliseconds since the epoch; undefined before the first. */
  readonly lastSuccessAtMs: number | undefined;
}

/** What a task uses from a logger. */
export type TaskLog = Readonly<Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>>;

/** The parts of a task's log lines. */
export interface TaskLines {
  /** The task's name, a phrase that can follow "cannot": `remove expired sessions`. */
  readonly name: string;
  readonly log: TaskLog;
  /** The effect while the task fails, as the second half of the line: `the last copy stays in use`. */
  readonly meanwhile?: string;
  /** The level for a failure's line; `warn` by default. */
  readonly level?: 'debug' | 'warn' | 'error';
  /** Fields for a failure's line. */
  readonly fields?: () => object;
}

export type TaskHealthKeeper = ReturnType<typeof createTaskHealth>;

/** How often a lasting failure is logged again, in milliseconds. */
const remindMs = 60_000;

/** Keeps a task's health and logs each failure and recovery once, and a lasting failure once a minute. */
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
