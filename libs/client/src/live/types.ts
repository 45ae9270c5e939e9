import type { RecordbusError } from '../error.ts';
import type { SelectOptions, ShapeOptions } from '../records/options.ts';
import type { FilterOf } from '../types/filter-fields.ts';

/** How a client follows changes. */
export interface LiveConnection {
  /** Server-sent events (`stream`), the default, or a `websocket`; a stream if the platform has no WebSocket. */
  readonly over?: 'stream' | 'websocket' | undefined;
  /**
   * Whether tabs whose stores have the same name share one connection. It needs Web Locks and BroadcastChannel; without
   * them, each tab has its own.
   */
  readonly shareTabs?: boolean | undefined;
}

/** A list that follows its collection. */
export interface LiveList<R> {
  /** The records in sort order. Each change makes a new list. */
  readonly records: readonly R[];
  /** How many records match. If there are more than the limit, it may be wrong for a while after the list was read. */
  readonly total: number;
  /** Why the list has ended, such as a lost right. */
  readonly error: RecordbusError | undefined;
  /** Calls the listener after each change. Returns a function that removes it. */
  onChange(listener: (records: readonly R[]) => void): () => void;
  close(): void;
}

/** A live list's options. */
export interface LiveOptions<S, C extends keyof S, P extends string, F extends string>
  extends SelectOptions<S, C>,
    ShapeOptions<P, F> {
  /** How many records at most; 1,000 by default and at most. */
  readonly limit?: number | undefined;
}

/** A change to a record. */
export type Change<R> =
  | { readonly type: 'create' | 'enter'; readonly record: R; readonly version: string }
  | { readonly type: 'update'; readonly record: R; readonly version: string; readonly changed: readonly string[] }
  | { readonly type: 'delete' | 'leave'; readonly id: string; readonly version: string }
  /** Changes may be missing: read the records again. */
  | { readonly type: 'resync'; readonly reason: string };

/** A subscription's options. */
export interface SubscribeOptions<S, C extends keyof S, P extends string, F extends string, R>
  extends ShapeOptions<P, F> {
  readonly filter?: FilterOf<S, C> | undefined;
  /** The id of one record to follow. */
  readonly record?: string | undefined;
  readonly onMessage: (message: Change<R>) => void;
  /** Called when the subscription ends, for example because of a lost right. */
  readonly onError?: ((error: RecordbusError) => void) | undefined;
}

/** Follows changes until it is closed. */
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
      /** In the first message: everyone who is present, with their states. */
      readonly present?: Readonly<Record<string, unknown>>;
      readonly joined?: Readonly<Record<string, unknown>>;
      readonly left?: readonly string[];
    };
