import type { z } from 'zod';
import type { AnySchema } from './schema.ts';
import type { HandlerTools } from './tools.ts';

/** An attempt at a job. */
export interface JobRun<I = unknown> {
  /** The same in every attempt: the guard for work that must happen once. */
  readonly id: string;
  readonly input: I;
  readonly key: string | undefined;
  /** From 1. */
  readonly attempt: number;
  /** Shows admins how far the attempt is, in percent, with a sentence of up to 200 characters. */
  progress(percent: number, message?: string): Promise<void>;
}

interface Declaration<I extends z.ZodType, S> {
  /** The schema for the input. Enqueuing what it refuses is 422. */
  readonly input: I;
  /** How many run at once over all replicas; by default, as many as there are workers. */
  readonly concurrency?: number;
  readonly retry?: {
    /** How many attempts follow the first one; 10 by default, at most 100. Then the job is dead. */
    readonly max?: number;
    /**
     * The seconds before each retry: doubling from 2 to 3600 (`exponential`, the default), always the same, or a list
     * whose last one repeats.
     */
    readonly backoff?: 'exponential' | number | readonly number[];
  };
  /** An attempt's timeout; 60 s by default, at most 3600 s. */
  readonly timeout_s?: number;
  /** Returns the key for an input, unless the enqueuer gives one. One job waits for each key. */
  readonly key?: (input: z.output<I>) => string | undefined;
  readonly handler: (run: JobRun<z.output<I>>, tools: HandlerTools<S>) => unknown;
}

/** A job of an extension, with any input. */
export type Job<S = AnySchema, I extends z.ZodType = z.ZodType> = Omit<Declaration<I, S>, 'key' | 'handler'> & {
  readonly key?: (input: never) => string | undefined;
  readonly handler: (run: never, tools: HandlerTools<S>) => unknown;
};

/**
 * Declares work for later, which `tools.jobs.enqueue` asks for. It runs at least once, on any replica, in workers of its
 * own. Within `defineExtension<Schema>` its tools know the collections.
 */
export const job = <I extends z.ZodType, S = AnySchema>(declaration: Declaration<I, S>): Job<S, I> => declaration;
