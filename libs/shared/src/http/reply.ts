import type { Readable } from 'node:stream';

/** An answer as a handler returns it. `json` is a body that is JSON text already, as the database wrote it. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly json?: string;
  /** A body that is text of the type that the headers say. */
  readonly text?: string;
  /** Opens a body that is sent as it comes, whatever its type; not asked for HEAD. The headers say what it is. */
  readonly openStream?: () => Promise<Readable>;
}

/** 200 with the result in the envelope (contract §1). */
export const ok = (data: unknown, headers?: Record<string, string>): Reply => ({
  status: 200,
  body: { data },
  ...(headers && { headers }),
});

/** 201 with what was made in the envelope. */
export const created = (data: unknown): Reply => ({ status: 201, body: { data } });

/** A page of a list with its counts (contract §1). */
export const page = (rows: unknown[], counts: { page: number; perPage: number; totalItems: number }): Reply => ({
  status: 200,
  body: { data: rows, ...counts, totalPages: Math.ceil(counts.totalItems / counts.perPage) },
});

/** 200 with text of a type of its own. */
export const plainText = (contentType: string, text: string): Reply => ({
  status: 200,
  text,
  headers: { 'Content-Type': contentType },
});

/** A whole body that is JSON text already. */
export const rawJson = (status: number, json: string, headers?: Record<string, string>): Reply => ({
  status,
  json,
  ...(headers && { headers }),
});
