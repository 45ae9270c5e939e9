import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions } from '../transport.ts';
import type { Requests } from './requests.ts';

/** Work that an extension left for later (extensions §8). */
export interface ExtensionJob {
  readonly id: string;
  /** `<extension>.<name>`. */
  readonly name: string;
  readonly extension: string;
  readonly state: 'pending' | 'running' | 'done' | 'dead' | 'cancelled';
  readonly key: string | null;
  readonly priority: number;
  /** Attempts begun so far. */
  readonly attempt: number;
  readonly progress: { readonly percent: number; readonly message: string | null } | null;
  readonly error: string | null;
  /** Unix seconds, like the other times. */
  readonly due: number;
  readonly created: number;
  readonly started: number | null;
  readonly finished: number | null;
  readonly request_id: string | null;
}

/** A job with its input. */
export interface ExtensionJobDetails extends ExtensionJob {
  readonly input: unknown;
}

type ExtensionJobFilter = PageOptions & {
  readonly state?: ExtensionJob['state'];
  readonly extension?: string;
  /** A full name. */
  readonly name?: string;
  readonly key?: string;
};

const path = ['admin', 'extension-jobs'];

/** Extensions' jobs. */
export const createExtensionJobs = ({ get, page, post }: Requests) => ({
  list: (filter?: ExtensionJobFilter, options?: CallOptions) => page<Page<ExtensionJob>>(path, filter, options),
  get: (id: string, options?: CallOptions) => get<ExtensionJobDetails>([...path, id], options),
  /** Runs a job now that waits, is dead or was cancelled. */
  run: (id: string, options?: CallOptions) => post<ExtensionJob>([...path, id, 'run'], {}, options),
  cancel: (id: string, options?: CallOptions) => post<ExtensionJob>([...path, id, 'cancel'], {}, options),
});
