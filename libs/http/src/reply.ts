import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** An answer as a handler returns it. `json` is a body that is already JSON text, as the database wrote it. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly json?: string;
  /** A text body, or its bytes in UTF-8; the headers have its type. */
  readonly text?: string | Buffer;
  /** Opens a body that is streamed; not called for HEAD. The headers have its type. */
  readonly openStream?: () => Promise<Readable>;
  /**
   * Takes over the answer once its head is sent, for a stream of messages that stays open, and ends it later. Nothing
   * waits for that end: a waiting call would keep all it uses in memory. Not called for HEAD, nor when the client has
   * disconnected. Only for routes with `staysOpen`.
   */
  readonly holdOpen?: (response: ServerResponse) => void;
}

/** 200 with the result in the envelope (http §3.1). */
export const ok = (data: unknown, headers?: Record<string, string>): Reply => ({
  status: 200,
  body: { data },
  ...(headers && { headers }),
});

/** 201 with the created resource in the envelope. */
export const created = (data: unknown): Reply => ({ status: 201, body: { data } });

/** Adds warnings to an answer: sentences about a change that was made nevertheless (http §3.4). */
export const withWarnings = ({ body, ...rest }: Reply, warnings: readonly string[]): Reply => ({
  ...rest,
  body: warnings.length > 0 ? { ...(body as object), warnings } : body,
});

/** A list page with its counts (http §3.2). */
export const page = (rows: unknown[], counts: { page: number; perPage: number; totalItems: number }): Reply => ({
  status: 200,
  body: {
    data: rows,
    ...counts,
    totalPages: counts.totalItems < 0 ? -1 : Math.ceil(counts.totalItems / counts.perPage),
  },
});

/** 200 with text in this content type. */
export const plainText = (contentType: string, text: string | Buffer): Reply => ({
  status: 200,
  text,
  headers: { 'Content-Type': contentType },
});

/** A body, envelope included, that is already JSON text. */
export const rawJson = (status: number, json: string, headers?: Record<string, string>): Reply => ({
  status,
  json,
  ...(headers && { headers }),
});
