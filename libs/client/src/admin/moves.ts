import type { Progress } from '../exchange.ts';
import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath, mergeQueries } from '../url.ts';
import type { Requests } from './requests.ts';

/** A report, or a plan, as far as programs usually read it (move §4). */
export interface MoveReport {
  readonly is_first_run: boolean;
  readonly seconds: number;
  readonly collections: readonly {
    readonly from: string;
    readonly to: string;
    readonly type: string;
    readonly records: number;
    readonly created: number;
    readonly refused: number;
    readonly refused_records: readonly { readonly id: string; readonly reasons: Readonly<Record<string, string>> }[];
    readonly files: number;
    readonly files_missing: number;
  }[];
  readonly rules: readonly {
    readonly collection: string;
    readonly rule: string;
    readonly from: string | null;
    readonly to: string | null;
    readonly result: 'exact' | 'narrower' | 'locked';
    readonly why: string | null;
  }[];
  readonly notes: readonly {
    readonly collection: string;
    readonly field?: string;
    readonly kind: 'changed' | 'left_out' | 'risk';
    readonly text: string;
  }[];
  readonly lost_values: readonly {
    readonly collection: string;
    readonly field: string;
    readonly what: string;
    readonly count: number;
  }[];
  readonly not_taken: readonly string[];
}

/** A move in lists (move §5.2). */
export interface ListedMove {
  readonly id: string;
  readonly state: 'uploading' | 'planning' | 'planned' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly options: Readonly<Record<string, unknown>>;
  /** The backup's size. */
  readonly bytes: number;
  /** `part` is from 0 to 1. */
  readonly progress: { readonly text: string; readonly part: number | null } | null;
  readonly error: string | null;
  readonly created: number;
  readonly finished: number | null;
}

/** A move from a PocketBase backup. */
export interface Move extends ListedMove {
  readonly plan: MoveReport | null;
  readonly report: MoveReport | null;
}

export interface MoveChoices extends CallOptions {
  /** The collections to take; all by default. */
  readonly only?: readonly string[];
  /** New names of collections. */
  readonly map?: Readonly<Record<string, string>>;
  /** Whether each record gets an event. */
  readonly events?: boolean;
  /** Whether views are tried; the default. */
  readonly views?: 'try' | 'skip';
  /** Whether users stay signed in; the default. */
  readonly sessions?: 'keep' | 'end';
  readonly onProgress?: (progress: Progress) => void;
}

/** Moves from PocketBase. */
export const createMoves = (transport: Transport, { get, page, post }: Requests) => ({
  list: (paging?: PageOptions, options?: CallOptions) => page<Page<ListedMove>>(path, paging, options),
  get: (id: string, options?: CallOptions) => get<Move>([...path, id], options),
  /** Uploads a backup, the zip archive that PocketBase makes. The plan follows, and waits for `confirm`. */
  start: (backup: Blob, { only, map, events, views, sessions, query, ...more }: MoveChoices = {}): Promise<Move> =>
    transport.data<Move>({
      method: 'POST',
      path: apiPath(...path),
      query: mergeQueries(query, {
        only: only?.join(','),
        map: map && JSON.stringify(map),
        events: events ? '1' : undefined,
        views,
        sessions,
      }),
      body: { content: backup, type: 'application/zip' },
      ...more,
    }),
  /** Runs a planned move. */
  confirm: (id: string, options?: CallOptions) => post<Move>([...path, id, 'confirm'], {}, options),
  /** Ends a move for good. What it has moved stays. */
  cancel: (id: string, options?: CallOptions) => post<Move>([...path, id, 'cancel'], {}, options),
  /** Streams the report, or the plan, as a page. */
  report: (id: string, options?: CallOptions): Promise<Response> =>
    transport.open({ method: 'GET', path: apiPath(...path, id, 'report'), ...options }),
});

const path = ['admin', 'import', 'pocketbase'];
