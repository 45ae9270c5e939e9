import type { Caller } from './caller.ts';
import type { JobInput, JobName } from './job-types.ts';
import type { AnySchema, CollectionName, CreateOf, RecordOf, UpdateOf } from './schema.ts';

/** A record, or values to write: field names and their values. */
export type RecordData = Record<string, unknown>;

/** A list's options, as in the query for `GET /api/<collection>`. */
export interface ListOptions {
  readonly page?: number;
  readonly perPage?: number;
  readonly filter?: string;
  readonly sort?: string;
  readonly expand?: string;
  readonly fields?: string;
  readonly skipTotal?: boolean;
}

export interface Page<R = RecordData> {
  readonly data: R[];
  readonly page: number;
  readonly perPage: number;
  readonly totalItems: number;
  readonly totalPages: number;
}

/** The options for a list by cursor: a list's, with the `next` from the page before. */
export interface CursorOptions extends Omit<ListOptions, 'page' | 'skipTotal'> {
  readonly cursor?: string;
}

/** A page in a list by cursor. */
export interface CursorPage<R = RecordData> {
  readonly data: R[];
  readonly perPage: number;
  /** The next page's cursor; null at the end. */
  readonly next: string | null;
}

/** A value in an operation, taken from an earlier one's result: `{ $ref: '<as>.<member>' }`. */
export interface Reference {
  readonly $ref: string;
}

/** An operation in a batch. `as` is the name by which later operations refer to its result. */
export type BatchOperation = { readonly collection: string; readonly as?: string } & (
  | { readonly op: 'create'; readonly id?: string | Reference; readonly data?: RecordData }
  | {
      readonly op: 'update';
      readonly id: string | Reference;
      readonly data?: RecordData;
      /** The current version's ETag. */
      readonly if_match?: string;
    }
  | {
      readonly op: 'upsert';
      /** Either the id, or the unique fields that find the record. */
      readonly id?: string | Reference;
      readonly on?: string | readonly string[];
      readonly data?: RecordData;
      readonly if_match?: string;
    }
  | { readonly op: 'delete'; readonly id: string | Reference; readonly if_match?: string }
);

/** An operation's result. For a delete, `data` and `etag` are null. */
export interface BatchResult {
  readonly status: 200 | 201;
  readonly data: RecordData | null;
  readonly etag: string | null;
}

/**
 * The records API without HTTP. A refusal is thrown as an error with `status`, `code` and `details`; an uncaught one
 * becomes the answer to the client. In a before hook it works inside the write's transaction.
 */
export interface Records<S = AnySchema> {
  list<C extends CollectionName<S>>(collection: C, options?: ListOptions): Promise<Page<RecordOf<S[C]>>>;
  /** Reads a list's first page, or the page after a cursor, at the same cost at any depth. It has no totals. */
  listByCursor<C extends CollectionName<S>>(
    collection: C,
    options?: CursorOptions,
  ): Promise<CursorPage<RecordOf<S[C]>>>;
  get<C extends CollectionName<S>>(
    collection: C,
    id: string,
    options?: Pick<ListOptions, 'expand' | 'fields'>,
  ): Promise<RecordOf<S[C]>>;
  /** Like `get`, but returns undefined for a missing record. */
  find<C extends CollectionName<S>>(
    collection: C,
    id: string,
    options?: Pick<ListOptions, 'expand' | 'fields'>,
  ): Promise<RecordOf<S[C]> | undefined>;
  /** Like `get`, and locks the record until the transaction ends. Only in a before hook or a `transaction`. */
  lock<C extends CollectionName<S>>(collection: C, id: string): Promise<RecordOf<S[C]>>;
  create<C extends CollectionName<S>>(collection: C, values: CreateOf<S[C]>): Promise<RecordOf<S[C]>>;
  update<C extends CollectionName<S>>(collection: C, id: string, values: UpdateOf<S[C]>): Promise<RecordOf<S[C]>>;
  /** Creates the record with this id, or updates it. When calls are concurrent, one creates. */
  put<C extends CollectionName<S>>(
    collection: C,
    id: string,
    values: CreateOf<S[C]> | UpdateOf<S[C]>,
  ): Promise<RecordOf<S[C]>>;
  /** Creates a record, or updates the one with the same values in `on`: a unique field, or a unique index's fields. */
  upsert<C extends CollectionName<S>>(
    collection: C,
    on: string | readonly string[],
    values: CreateOf<S[C]> | UpdateOf<S[C]>,
  ): Promise<RecordOf<S[C]>>;
  delete(collection: CollectionName<S>, id: string): Promise<void>;
  /** Does several writes together: all, or none. A refusal names the operation in `details.index`. */
  batch(operations: readonly BatchOperation[]): Promise<BatchResult[]>;
  /** Returns the same API for a caller, who is subject to collection rules. Without it, everything is allowed. */
  as(caller: Caller | { readonly type: 'user'; readonly collection: string; readonly id: string }): Records<S>;
}

export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The whole exchange's timeout; 10 s by default, at most 60 s. */
  readonly timeoutMs?: number;
  /** The largest answer; 1 MiB by default, at most 16 MiB. A larger one is an error. */
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
  /** By default the enabled one; required when both are enabled. */
  readonly provider?: 'onesignal' | 'fcm';
  /** OneSignal subscription ids, or Firebase registration tokens. */
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

/** What goes with a mail: bytes or text under a name, or a record's files in a field; `name` chooses one of several. */
export type MailAttachment =
  | {
      /** Without a path. */
      readonly name: string;
      readonly content: string | Uint8Array;
      /** The media type, such as `application/pdf`. */
      readonly type: string;
    }
  | { readonly collection: string; readonly id: string; readonly field: string; readonly name?: string };

/** A mail to send. Addresses are like `ada@example.com` or `Ada Lovelace <ada@example.com>`. */
export interface OutgoingMail {
  readonly to: string | readonly string[];
  readonly cc?: string | readonly string[];
  readonly bcc?: string | readonly string[];
  /** Where answers go, instead of to the sender. */
  readonly reply_to?: string | readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** More headers, such as `In-Reply-To` and `References` for a thread, or a `Message-ID` of its own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** At most 20, with 10 MiB together. */
  readonly attachments?: readonly MailAttachment[];
  /** The record that the mail is about, for the mail log. */
  readonly about?: { readonly collection: string; readonly id: string };
  /** Who reads the attached files, subject to rules. Without it, every file may be attached. */
  readonly as?: Caller | { readonly type: 'user'; readonly collection: string; readonly id: string };
}

/** Sends mails. */
export interface Mailer {
  /**
   * Queues a mail, in the call's transaction if it has one; each recipient's is sent with retries for a day. Returns its
   * Message-ID, to which answers refer.
   */
  send(mail: OutgoingMail): Promise<{ readonly message_id: string }>;
}

/** Small values that survive restarts and are shared by all replicas; each extension has its own. */
export interface KeyValueStore {
  get(key: string): Promise<unknown>;
  /** Stores a JSON value with at most 64 KiB. It expires after `ttlSec`. */
  set(key: string, value: unknown, options?: { readonly ttlSec?: number }): Promise<void>;
  /** Stores a value if the key has none. Returns true if it did; when many calls are concurrent, exactly one does. */
  setIfAbsent(key: string, value: unknown, options?: { readonly ttlSec?: number }): Promise<boolean>;
  /** Adds to a number, 0 if missing, and returns the sum. */
  increment(key: string, by?: number): Promise<number>;
  delete(key: string): Promise<void>;
  /** Lists the keys with a prefix, sorted; at most 1000. */
  list(prefix?: string): Promise<{ readonly key: string; readonly value: unknown }[]>;
}

/** When and how a job runs. */
export interface JobOptions {
  /** Seconds from now, at most ten years. */
  readonly in_s?: number;
  /** Unix seconds; instead of `in_s`. */
  readonly at?: number;
  /** One job waits for each key, of up to 255 characters; by default, what the job's `key` returns. */
  readonly key?: string;
  /** From -1000 to 1000, 0 by default. Higher ones run first. */
  readonly priority?: number;
}

/** Asks for work that runs later. */
export interface JobQueue {
  /**
   * Adds the job `<extension>.<name>`, in the call's transaction if it has one: the job exists exactly when the writes
   * do. If a job with the key is waiting, that one stays, with its input: it runs at the earlier time and with the higher
   * priority of both. Then `isNew` is false, and `id` is its id.
   */
  enqueue<N extends JobName>(
    name: N,
    input: JobInput<N>,
    options?: JobOptions,
  ): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /**
   * Cancels the jobs with this key that wait or run, of this extension or with the full name `name`, and returns how many
   * there were. It is a part of the call's transaction if it has one.
   */
  cancel(key: string, name?: JobName): Promise<number>;
}

type LogLine = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Lines in the service's log that carry the extension's name. */
export interface Log {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

/** The tools for an extension's code. */
export interface Tools<S = AnySchema> {
  readonly records: Records<S>;
  readonly webhooks: {
    /** Emits a custom event, on the bus and to the webhooks with a matching pattern. */
    dispatch(event: string, payload: unknown): Promise<{ readonly id: string }>;
  };
  readonly http: {
    /** Sends an HTTP request through the egress filter; it does not follow redirects. */
    fetch(url: string, options?: FetchOptions): Promise<Fetched>;
  };
  readonly notifications: { send(notification: Notification): Promise<NotificationResult> };
  readonly mail: Mailer;
  /** The settings as text, as admins see them; secrets are withheld. */
  readonly settings: { get(key: string): Promise<string> };
  readonly kv: KeyValueStore;
  readonly jobs: JobQueue;
  readonly log: Log;
  /** The environment variables whose names begin with `EXTENSION_`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The tools for route, cron and job handlers. */
export interface HandlerTools<S = AnySchema> extends Tools<S> {
  /**
   * Runs work in one database transaction, and returns its result. Writes with the tools that the work gets (`records`,
   * `kv`, `webhooks.dispatch`, `mail`, `jobs`) are committed when the work is done, and rolled back when it throws. It may take
   * 5 seconds. A call has one transaction at a time. A transaction that conflicts with another is run again, so the
   * work should do nothing else that must happen once.
   */
  transaction<T>(work: (tools: Tools<S>) => Promise<T> | T): Promise<T>;
}
