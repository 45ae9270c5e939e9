import type { z } from 'zod';
import type { Job } from './job.ts';

/**
 * The jobs that `tools.jobs.enqueue` knows: each full name with its input. It is empty, which means any, until
 * extensions add theirs: `declare module '@recordbus/extensions' { interface Jobs extends JobsOf<'images', typeof jobs> {} }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: extensions add the members.
export interface Jobs {}

/** The jobs that the extension `E` declares, by full name, with their inputs. */
export type JobsOf<E extends string, D extends Readonly<Record<string, Pick<Job, 'input'>>>> = {
  readonly [N in keyof D & string as `${E}.${N}`]: z.input<D[N]['input']>;
};

/** A job's full name. */
export type JobName = keyof Jobs extends never ? string : keyof Jobs & string;

/** What a job takes. */
export type JobInput<N extends string> = N extends keyof Jobs ? Jobs[N] : unknown;
