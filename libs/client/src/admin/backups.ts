import type { Progress } from '../exchange.ts';
import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import type { Requests } from './requests.ts';

/** A backup that was made or uploaded through the API (operation §9.6). */
export interface Backup {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly source: 'request' | 'schedule' | 'upload';
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
  /** For an upload: when its backup was made. */
  readonly data_at: number | null;
}

/** A restore that was ordered through the API (operation §9.7). */
export interface Restore {
  readonly id: string;
  readonly state: 'checking' | 'waiting' | 'restoring' | 'done' | 'failed';
  /** The archive's name. */
  readonly file: string;
  /** The result, or why it failed. */
  readonly message: string | null;
  readonly changed_at: number;
}

export interface UploadOptions extends CallOptions {
  readonly onProgress?: (progress: Progress) => void;
}

/** Backups. */
export const createBackups = (transport: Transport, { get, page, create, post, remove }: Requests) => ({
  list: (paging?: PageOptions, options?: CallOptions) => page<Page<Backup>>(['admin', 'backups'], paging, options),
  get: (id: string, options?: CallOptions) => get<Backup>(['admin', 'backups', id], options),
  /** Starts a backup, which continues after the answer. It contains neither the deployment's secret nor its key. */
  start: (options?: CallOptions) => create<Backup>(['admin', 'backups'], {}, options),
  /** Uploads an archive. The check follows the answer: the backup is running until then. */
  upload: (archive: Blob, options?: UploadOptions) =>
    transport.data<Backup>({
      method: 'POST',
      path: apiPath('admin', 'backups', 'upload'),
      body: { content: archive, type: 'application/gzip' },
      ...options,
    }),
  /** Restores a backup. `file` is the archive's name. The stack stops, and starts again with the backup's data. */
  restore: (id: string, file: string, options?: CallOptions) =>
    post<Restore>(['admin', 'backups', id, 'restore'], { file }, options),
  /** Whether this stack can restore a backup, and the newest restore. */
  restores: (options?: CallOptions) =>
    get<{ readonly available: boolean; readonly last: Restore | null }>(['admin', 'restores'], options),
  /** Follows a restore, without a session: the restored deployment may not know the admin. */
  findRestore: (id: string, options?: CallOptions) => get<Restore>(['admin', 'restores', id], options),
  /** Deletes a backup with its archive. A running backup ends. */
  delete: (id: string, options?: CallOptions) => remove(['admin', 'backups', id], options),
  /** Streams the archive. */
  download: (id: string, options?: CallOptions): Promise<Response> =>
    transport.open({ method: 'GET', path: apiPath('admin', 'backups', id, 'archive'), ...options }),
});
