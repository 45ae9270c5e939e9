import type { RecordbusError } from '../error.ts';
import type { SelectOptions, ShapeOptions } from '../records/options.ts';
import type { FilterOf } from '../types/filter-fields.ts';

/** How a client follows changes. */
export interface LiveConnection {
  /** `stream` of events, the default, or `websocket`; where the platform has no WebSocket, a stream. */
  readonly over?: 'stream' | 'websocket' | undefined;
  /**
   * Whether the tabs of one session share one connection: those whose stores have the same name. It needs Web Locks and
   * BroadcastChannel; where they are missing, each tab has its own.
   */
  readonly shareTabs?: boolean | undefined;
}

/** A list that follows its collection. */
export interface LiveList<R> {
  /** The records in the order of the sort. Each change makes a new list. */
  readonly records: readonly R[];
  /** How many records match. Beyond the limit it may be wrong for a while after the list was read; then it is read again. */
  readonly total: number;
  /** Why the list no longer follows its collection, such as a right that has ended. */
  readonly error: RecordbusError | undefined;
  /** Calls back after each change. Returns how to stop. */
  onChange(listener: (records: readonly R[]) => void): () => void;
  close(): void;
}

/** What a live list shows. */
export interface LiveOptions<S, C extends keyof S, P extends string, F extends string>
  extends SelectOptions<S, C>,
    ShapeOptions<P, F> {
  /** The most records, up to 1,000, which is the default. */
  readonly limit?: number | undefined;
}

/** A change of a record. */
export type Change<R> =
  | { readonly type: 'create' | 'enter'; readonly record: R; readonly version: string }
  | { readonly type: 'update'; readonly record: R; readonly version: string; readonly changed: readonly string[] }
  | { readonly type: 'delete' | 'leave'; readonly id: string; readonly version: string }
  /** Changes may be missing: read the records again. */
  | { readonly type: 'resync'; readonly reason: string };

/** What a subscription follows, and whom it tells. */
export interface SubscribeOptions<S, C extends keyof S, P extends string, F extends string, R>
  extends ShapeOptions<P, F> {
  readonly filter?: FilterOf<S, C> | undefined;
  /** The id of one record to follow. */
  readonly record?: string | undefined;
  readonly onMessage: (message: Change<R>) => void;
  /** The end of the subscription, such as a right that has ended. */
  readonly onError?: ((error: RecordbusError) => void) | undefined;
}

/** What follows changes until it is closed. */
export interface Subscription {
  close(): void;
}

/** A message in a channel. */
export type ChannelMessage =
  | {
      readonly type: 'broadcast';
      readonly channel: string;
      readonly data: unknown;
      readonly from: { readonly type: string; readonly id: string | null };
    }
  | {
      readonly type: 'presence';
      readonly channel: string;
      /** First: everyone who is present, with their states. */
      readonly present?: Readonly<Record<string, unknown>>;
      readonly joined?: Readonly<Record<string, unknown>>;
      readonly left?: readonly string[];
    };
