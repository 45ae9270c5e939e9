import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import type { Requests } from './requests.ts';

/** What an erasure removed (privacy §2.4). */
export interface ErasureCertificate {
  readonly records: number;
  readonly history: number;
  readonly files: number;
  readonly previews: number;
  readonly deliveries: number;
  readonly events: number;
  readonly requests: number;
  readonly audit: number;
  readonly mails: number;
  /** Unix seconds. */
  readonly stream_until: number | null;
  readonly backups: readonly { readonly name: string; readonly keep_until: number | null }[];
}

/** How to erase a record (privacy §2.1). */
export interface Erasure {
  readonly history?: 'purge' | 'redact';
  readonly files?: boolean;
  readonly dry_run?: boolean;
}

/** A job: an import (import §7) or an erasure (privacy §2.6). */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly state: 'queued' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';
  readonly collection: string;
  readonly owner: { readonly type: string; readonly id: string | null };
  readonly options: Readonly<Record<string, unknown>>;
  readonly rows: {
    readonly total: number;
    readonly read: number;
    readonly done: number;
    readonly skipped: number;
    readonly refused: number;
    readonly waiting: number;
  };
  readonly bytes: number;
  /** Rows per second. */
  readonly rate: number | null;
  readonly eta_s: number | null;
  readonly error: { readonly message: string; readonly row?: number; readonly column?: number } | null;
  readonly created: number;
  readonly started: number | null;
  readonly finished: number | null;
  /** An erasure's; null until it is done. */
  readonly certificate?: ErasureCertificate | null;
}

type JobFilter = PageOptions & { readonly state?: Job['state']; readonly collection?: string };

/** Import jobs. */
export const createJobs = (transport: Transport, { get, page, post }: Requests) => ({
  list: (filter?: JobFilter, options?: CallOptions) => page<Page<Job>>(['jobs'], filter, options),
  get: (id: string, options?: CallOptions) => get<Job>(['jobs', id], options),
  pause: (id: string, options?: CallOptions) => post<Job>(['jobs', id, 'pause'], {}, options),
  resume: (id: string, options?: CallOptions) => post<Job>(['jobs', id, 'resume'], {}, options),
  cancel: (id: string, options?: CallOptions) => post<Job>(['jobs', id, 'cancel'], {}, options),
  /** Streams the refused rows, in the import's format, with the reasons. */
  refused: (id: string, options?: CallOptions): Promise<Response> =>
    transport.open({ method: 'GET', path: apiPath('jobs', id, 'refused'), ...options }),
});
