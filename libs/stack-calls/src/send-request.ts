import type { ReadableStream } from 'node:stream/web';
import { AppError } from '@recordbus/errors';
import { CommandFailure } from './failure.ts';

/** A running stack, and the service key to call it with. */
export interface ApiAddress {
  readonly url: string;
  readonly key: string | undefined;
}

export interface ApiRequest {
  readonly method: string;
  /** Relative to the stack's root, with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly signal?: AbortSignal;
}

/** Sends a request. Throws the API's refusal, and CommandFailure if the API does not answer. */
export async function sendRequest(
  { url, key }: ApiAddress,
  { method, path, headers, body, signal }: ApiRequest,
): Promise<Response> {
  const base = URL.parse(url);
  if (!base || !/^https?:$/.test(base.protocol)) throw new CommandFailure(`${url} is not an http or https URL.`);
  if (base.username || base.password) throw new CommandFailure('The URL must not have credentials: use --key.');
  const root = base.pathname.endsWith('/') ? base.pathname.slice(0, -1) : base.pathname;
  const response = await fetch(`${base.origin}${root}${path}`, {
    method,
    redirect: 'error',
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
    ...(signal && { signal }),
    ...(body !== undefined && { body, duplex: 'half' }),
  }).catch((error: unknown) => {
    throw new CommandFailure(`${base.origin} does not answer: ${reasonOf(error)}.`);
  });
  if (response.ok) return response;
  const answer = parseObject(await response.text());
  if (!answer || typeof answer.error !== 'string' || typeof answer.code !== 'string')
    throw new CommandFailure(`${base.origin} answers ${response.status}, but is not a Recordbus stack.`);
  const details = isObject(answer.details) ? { details: answer.details } : {};
  const retryAfter = response.headers.get('retry-after');
  throw new AppError(response.status, answer.code, answer.error, {
    ...details,
    headers: retryAfter === null ? {} : { 'Retry-After': retryAfter },
  });
}

type Members = Record<string, unknown>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a JSON object; undefined for any other text. */
export function parseObject(text: string): Members | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Returns why a request failed, for use in a sentence. For a failed fetch, its cause has the reason. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error ? cause.message : error.message;
}
