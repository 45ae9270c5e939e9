import type { CallTarget, ExtensionDescription } from './description.ts';

/** An error as host and worker exchange it. */
export interface PlainError {
  readonly message: string;
  readonly stack?: string | undefined;
  /** Set for a refusal; an error without a status is a defect. */
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** The result of a call or a tool. */
export type CallOutcome = { readonly value: unknown } | { readonly error: PlainError };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A message to a worker. */
export type ToWorker =
  | { readonly type: 'call'; readonly call: number; readonly target: CallTarget; readonly input: unknown }
  /** The answer to an `ask`. */
  | { readonly type: 'answer'; readonly ask: number; readonly outcome: CallOutcome };

/** A message from a worker. */
export type FromWorker =
  /** The worker is initialized and begins to load the file. */
  | { readonly type: 'loading' }
  | {
      readonly type: 'loaded';
      readonly description: ExtensionDescription;
      /** Its imports' paths, including its own. */
      readonly files: readonly string[];
    }
  | { readonly type: 'unloadable'; readonly error: PlainError }
  /** The worker has begun the call: no earlier call's code blocks it. */
  | { readonly type: 'begun'; readonly call: number }
  | { readonly type: 'done'; readonly call: number; readonly outcome: CallOutcome }
  /** A call's code uses a tool; `method` is `<tool>.<function>`. */
  | {
      readonly type: 'ask';
      readonly ask: number;
      readonly call: number;
      readonly method: string;
      readonly args: unknown[];
    }
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly fields?: object | undefined };

/** A message to the runner, the process whose threads are the workers. */
export type ToRunner =
  | { readonly kind: 'start'; readonly worker: number; readonly file: string; readonly memoryMb: number }
  | { readonly kind: 'post'; readonly worker: number; readonly message: ToWorker }
  | { readonly kind: 'end'; readonly worker: number };

/** A message from the runner. */
export type FromRunner =
  | { readonly kind: 'said'; readonly worker: number; readonly message: FromWorker }
  | { readonly kind: 'ended'; readonly worker: number; readonly reason: string };
