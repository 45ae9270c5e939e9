import type { CallTarget, Description } from './description.ts';

/** An error as it crosses between host and worker. */
export interface PlainError {
  readonly message: string;
  readonly stack?: string | undefined;
  /** With a status it is an answer to a client, without one it is a defect. */
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

export type Outcome = { readonly value: unknown } | { readonly error: PlainError };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What a worker is told. */
export type ToWorker =
  | { readonly type: 'call'; readonly call: number; readonly target: CallTarget; readonly input: unknown }
  /** The answer to its `ask`. */
  | { readonly type: 'answer'; readonly ask: number; readonly outcome: Outcome };

/** What a worker says. */
export type FromWorker =
  /** It has everything of its own and begins with the file. */
  | { readonly type: 'loading' }
  | {
      readonly type: 'loaded';
      readonly description: Description;
      /** Paths of what was imported, its own file among them. */
      readonly files: readonly string[];
    }
  | { readonly type: 'unloadable'; readonly error: PlainError }
  /** It has come to the call: nothing that code left running keeps it from that. */
  | { readonly type: 'begun'; readonly call: number }
  | { readonly type: 'done'; readonly call: number; readonly outcome: Outcome }
  /** It needs something that only the host has; `method` is `<tool>.<function>`. */
  | {
      readonly type: 'ask';
      readonly ask: number;
      readonly call: number;
      readonly method: string;
      readonly args: unknown[];
    }
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly fields?: object | undefined };

/** What the runner, the process that the workers are threads of, is told. */
export type ToRunner =
  | { readonly kind: 'start'; readonly worker: number; readonly file: string; readonly memoryMb: number }
  | { readonly kind: 'post'; readonly worker: number; readonly message: ToWorker }
  | { readonly kind: 'end'; readonly worker: number };

/** What the runner says. */
export type FromRunner =
  | { readonly kind: 'said'; readonly worker: number; readonly message: FromWorker }
  | { readonly kind: 'ended'; readonly worker: number; readonly reason: string };
