import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';

/** A request to this product's own API. It carries the client's credentials and headers. */
export interface ProductCall {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body?: unknown;
  /** A body that is sent as it arrives. */
  readonly form?: { readonly contentType: string; readonly parts: Readable };
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer whose body is still arriving. */
export interface ProductAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** Calls this product's API as the client. Rejects only when the connection breaks. */
export type CallProduct = (call: ProductCall) => Promise<ProductAnswer>;

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON answer. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly json: JsonObject;
}

/** Calls a route that answers JSON. */
export const callForJson = async (call: CallProduct, request: ProductCall): Promise<JsonAnswer> =>
  readAnswer(await call(request));

/** Reads an answer's JSON. */
export async function readAnswer({ status, headers, body }: ProductAnswer): Promise<JsonAnswer> {
  const answer: unknown = await json(body);
  return { status, headers, json: isObject(answer) ? answer : {} };
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The answer's `data`, if it is an object. */
export const dataOf = ({ json: { data } }: Pick<JsonAnswer, 'json'>): JsonObject => (isObject(data) ? data : {});

/** Whether the answer says that a setting switches the route off (auth §1.6). */
export const isSwitchedOff = ({ status, json: { code } }: JsonAnswer): boolean =>
  status === 422 && code === 'feature_disabled';

/** Whether the answer is a success. */
export const isSuccess = ({ status }: Pick<JsonAnswer, 'status'>): boolean => status < 300;
