import type { Caller } from './caller.ts';

/** A record, or what is written to one: field names and their values. */
export type RecordData = Record<string, unknown>;

/** What a list is asked for, as in the query of `GET /api/<collection>`. */
export interface ListOptions {
  readonly page?: number;
  readonly perPage?: number;
  readonly filter?: string;
  readonly sort?: string;
  readonly expand?: string;
  readonly fields?: string;
  readonly skipTotal?: boolean;
}

export interface Page {
  readonly data: RecordData[];
  readonly page: number;
  readonly perPage: number;
  readonly totalItems: number;
  readonly totalPages: number;
}

/**
 * The records API without HTTP. What it refuses is thrown as an error with `status`, `code` and `details`; one that is
 * not caught becomes the answer to the client. In a before hook it works inside the transaction of the write.
 */
export interface Records {
  list(collection: string, options?: ListOptions): Promise<Page>;
  get(collection: string, id: string, options?: Pick<ListOptions, 'expand' | 'fields'>): Promise<RecordData>;
  /** As `get`, but undefined for a record that is not there. */
  find(
    collection: string,
    id: string,
    options?: Pick<ListOptions, 'expand' | 'fields'>,
  ): Promise<RecordData | undefined>;
  /** As `get`, and nobody else changes the record until the write is done; only in a before hook. */
  lock(collection: string, id: string): Promise<RecordData>;
  create(collection: string, values: RecordData): Promise<RecordData>;
  update(collection: string, id: string, values: RecordData): Promise<RecordData>;
  delete(collection: string, id: string): Promise<void>;
  /** The same as somebody else: the rules of the collections hold for them. Without it, everything is allowed. */
  as(caller: Caller | { readonly type: 'user'; readonly collection: string; readonly id: string }): Records;
}

export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange; 10 s when not given, at most 60 s. */
  readonly timeoutMs?: number;
  /** Largest answer; 1 MiB when not given, at most 16 MiB. A larger one is an error. */
  readonly maxBytes?: number;
}

export interface Fetched {
  readonly status: number;
  readonly ok: boolean;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  text(): string;
  json(): unknown;
}

export interface Notification {
  /** The one that is enabled when not given; needed when both are. */
  readonly provider?: 'onesignal' | 'fcm';
  /** Subscription ids of OneSignal, or registration tokens of Firebase. */
  readonly to: string | readonly string[];
  readonly title: string;
  readonly body: string;
  readonly data?: Readonly<Record<string, string>>;
}

export interface NotificationResult {
  readonly provider: 'onesignal' | 'fcm';
  readonly sent: number;
  readonly failed: number;
  readonly results: readonly {
    readonly target: string;
    readonly status: 'sent' | 'invalid' | 'failed';
    readonly id?: string;
    readonly error?: string;
  }[];
}

/** A mail of one's own, as text and perhaps as HTML. */
export interface Mailer {
  /** Puts it into the queue, from where it is sent with retries for a day. */
  send(mail: {
    readonly to: string;
    readonly subject: string;
    readonly text: string;
    readonly html?: string;
  }): Promise<void>;
}

/** Small values that survive restarts and are the same on every replica; each extension has its own. */
export interface KeyValueStore {
  get(key: string): Promise<unknown>;
  /** Any JSON value of at most 64 KiB. It goes by itself after `ttlSec`. */
  set(key: string, value: unknown, options?: { readonly ttlSec?: number }): Promise<void>;
  /** Sets it if the key has no value. True for the one who did: of many at once, exactly one. */
  setIfAbsent(key: string, value: unknown, options?: { readonly ttlSec?: number }): Promise<boolean>;
  /** Adds to a number, which is 0 when it is not there, and gives the sum. */
  increment(key: string, by?: number): Promise<number>;
  delete(key: string): Promise<void>;
  /** Keys that begin so, in their order; at most 1000. */
  list(prefix?: string): Promise<{ readonly key: string; readonly value: unknown }[]>;
}

type LogLine = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Lines of the service's log that carry the extension's name. */
export interface Log {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

/** What code of an extension works with, beside what it is called for. */
export interface Tools {
  readonly records: Records;
  readonly webhooks: {
    /** Emits a custom event: it goes to the webhooks that listen to its name and onto the bus. */
    dispatch(event: string, payload: unknown): Promise<{ readonly id: string }>;
  };
  readonly http: {
    /** An HTTP request through the egress filter; redirects are not followed. */
    fetch(url: string, options?: FetchOptions): Promise<Fetched>;
  };
  readonly notifications: { send(notification: Notification): Promise<NotificationResult> };
  readonly mail: Mailer;
  /** The settings as text, as admins see them; secrets are not given. */
  readonly settings: { get(key: string): Promise<string> };
  readonly kv: KeyValueStore;
  readonly log: Log;
  /** The environment variables whose names begin with `EXTENSION_`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}
