import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import type { Requests } from './requests.ts';

/** A backup that was made through the API (operation §9.6). */
export interface Backup {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  /** The archive's name. */
  readonly file: string;
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  /** Files that records name and the store lacks. */
  readonly missing_files: number;
  readonly bytes: number;
  readonly error: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
}

/** Backups. */
export const createBackups = (transport: Transport, { get, page, create, remove }: Requests) => ({
  list: (paging?: PageOptions, options?: CallOptions) => page<Page<Backup>>(['admin', 'backups'], paging, options),
  get: (id: string, options?: CallOptions) => get<Backup>(['admin', 'backups', id], options),
  /** Starts a backup, which continues after the answer. It contains neither the deployment's secret nor its key. */
  start: (options?: CallOptions) => create<Backup>(['admin', 'backups'], {}, options),
  /** Deletes a backup with its archive. A running backup ends. */
  delete: (id: string, options?: CallOptions) => remove(['admin', 'backups', id], options),
  /** Streams the archive. */
  download: (id: string, options?: CallOptions): Promise<Response> =>
    transport.open({ method: 'GET', path: apiPath('admin', 'backups', id, 'archive'), ...options }),
});
