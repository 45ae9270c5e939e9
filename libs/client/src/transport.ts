import { type Body, bodyOf } from './body.ts';
import { abortedBy, invalidArgument, RecordbusError, unexpectedAnswer } from './error.ts';
import { exchange, type Progress } from './exchange.ts';
import { createLastWrite } from './last-write.ts';
import type { LiveConnection } from './live/types.ts';
import {
  isShortWait,
  isWorthRepeating,
  maxRetries,
  newKey,
  retryAfterOf,
  untilAborted,
  wait,
  waitBefore,
} from './retry.ts';
import { type Query, withQuery } from './url.ts';

/** Options for every function that sends a request. */
export interface CallOptions {
  /** Aborts the call, its waits between repetitions included. */
  readonly signal?: AbortSignal | undefined;
  /** More parameters of the query, such as those that rules read as `@request.query.<name>`. */
  readonly query?: Query | undefined;
}

/** A request and its repetitions. */
export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  /** The URL's base; the stack's if left out. */
  readonly baseUrl?: string | undefined;
  /** Sent as JSON, or as a form if it has files. */
  readonly values?: unknown;
  /** A finished body instead of `values`. */
  readonly body?: Body | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether to send an idempotency key, which makes the request repeatable. A text is the key itself. */
  readonly key?: boolean | string | undefined;
  /** Whether to leave out the session's token. */
  readonly isAnonymous?: boolean | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A successful answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined when there is none. */
  readonly json: unknown;
}

/** How a client follows changes. */
export interface LiveSettings extends LiveConnection {
  /** The name that the session's store has; undefined if the session is not shared. */
  readonly sessionName: string | undefined;
}

/** Sends requests to a stack. */
export interface Transport {
  readonly baseUrl: string;
  /** The base for file URLs. */
  readonly filesUrl: string;
  /** Refreshes the session if that is due, and returns its token. For connections that stay open without requests. */
  keepFresh(): Promise<string | undefined>;
  /** How the client follows changes, and its session's name for other tabs. */
  readonly live: LiveSettings;
  /** Sends a request, and repeats it if that is safe. Throws a `RecordbusError` for every refusal. */
  send(call: Call): Promise<Reply>;
  /** Like `send`, but returns the answer before its body has arrived, for downloads and streams. */
  open(call: Call): Promise<Response>;
  /** Sends a request and returns the answer's member `data`. */
  data<T>(call: Call): Promise<T>;
}

export interface TransportOptions {
  readonly live: LiveSettings;
  readonly baseUrl: string;
  readonly filesUrl: string;
  readonly fetch: typeof fetch | undefined;
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The token to send; undefined for guests. */
  readonly token: () => Promise<string | undefined>;
}

/** Returns a hint for a page of another origin: its browser hides the stack's answer unless `cors.origins` names the page. */
function corsHint(baseUrl: string): string {
  const { location } = globalThis as { readonly location?: { readonly origin?: string } };
  const origin = location?.origin;
  const isForeign = origin?.startsWith('http') && /^https?:/.test(baseUrl) && !`${baseUrl}/`.startsWith(`${origin}/`);
  return isForeign ? ` If the stack runs, its setting cors.origins must name ${origin}.` : '';
}

/** Creates a client's transport. */
export function createTransport(options: TransportOptions): Transport {
  const { baseUrl, filesUrl, fetch: given, headers: always, token, live } = options;
  const lastWrite = createLastWrite();
  async function attempt<T>(call: Call, body: Body | undefined, key: string | undefined, read: Read<T>): Promise<T> {
    const { method, path, query, signal, onProgress } = call;
    if (signal?.aborted) throw abortedBy(signal);
    // A refresh is for every call that waits for it, so one call's signal ends only its own wait.
    const bearer = call.isAnonymous ? undefined : await untilAborted(token(), signal);
    const all = {
      ...lastWrite.headersFor(method),
      ...always,
      ...(bearer && { Authorization: `Bearer ${bearer}` }),
      ...(key && { 'Idempotency-Key': key }),
      ...call.headers,
    };
    const headers = Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => !!pair[1]));
    try {
      const url = `${call.baseUrl ?? baseUrl}${withQuery(path, query)}`;
      const response = await exchange({ method, url, headers, body, signal, onProgress }, given);
      lastWrite.note(response.headers);
      if (response.ok || response.status === 304) return await read(response);
      throw await refusalOf(response);
    } catch (error) {
      if (error instanceof RecordbusError) throw error;
      if (signal?.aborted) throw abortedBy(signal);
      throw new RecordbusError(`There was no answer to ${method} ${path}.${corsHint(baseUrl)}`, {
        status: 0,
        code: 'network',
        cause: error,
      });
    }
  }

  async function repeat<T>(call: Call, read: Read<T>): Promise<T> {
    // Without the slash a path could name another host.
    if (!String(call.path).startsWith('/')) throw invalidArgument('A path begins with a slash.');
    const key = call.key === true ? newKey() : call.key || undefined;
    const body = call.body ?? (call.values === undefined ? undefined : bodyOf(call.values));
    const isSafe = call.method === 'GET' || call.method === 'DELETE' || key !== undefined;
    let wasLost = false;
    for (let repetition = 0; ; repetition += 1) {
      try {
        return await attempt(call, body, key, read);
      } catch (error) {
        if (!(error instanceof RecordbusError)) throw error;
        if (wasLost && call.method === 'DELETE' && error.status === 404) return read(gone());
        if (repetition === maxRetries || !isWorthRepeating(error, isSafe) || !isShortWait(error)) throw error;
        wasLost ||= error.status !== 429;
        await wait(waitBefore(repetition, error), call.signal);
      }
    }
  }

  const send: Transport['send'] = (call) =>
    repeat(call, async (response) => {
      const { status, headers } = response;
      const json = await readJson(response);
      if (status <= 201 && Object(json) !== json) throw unexpectedAnswer(status);
      return { status, headers, json };
    });
  return {
    baseUrl,
    filesUrl,
    live,
    keepFresh: token,
    send,
    open: (call) => repeat(call, async (response) => response),
    async data<T>(call: Call) {
      const { status, json } = await send(call);
      if (status !== noContent && !('data' in Object(json))) throw unexpectedAnswer(status);
      return (Object(json) as { readonly data: T }).data;
    },
  };
}

/** The status for an answer that never has a body. */
const noContent = 204;

type Read<T> = (response: Response) => Promise<T>;

/** What a repeated delete returns that finds no record: an earlier request deleted it, and its answer was lost. */
const gone = (): Response => Response.json({ data: null });

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '' || !/\bjson\b/.test(response.headers.get('content-type') ?? '')) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    // An answer that was cut counts as no answer.
    throw new RecordbusError('The answer is not JSON.', { status: 0, code: 'network', cause });
  }
}

/** A refusal's error. An answer from another server, such as a proxy's page, has no message. */
async function refusalOf(response: Response): Promise<RecordbusError> {
  const { status, headers } = response;
  const body = Object(await readJson(response).catch(() => undefined)) as Readonly<Record<string, unknown>>;
  const { error, code, details } = body;
  return new RecordbusError(typeof error === 'string' ? error : `The answer has the status ${status}.`, {
    status,
    code: typeof code === 'string' ? code : 'unexpected_answer',
    details: Object(details) as Readonly<Record<string, unknown>>,
    version: status === 412 ? (headers.get('etag') ?? etagIn(details)) : undefined,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterOf(headers),
  });
}

/** A refused batch has the current version only in its details. */
function etagIn(details: unknown): string | undefined {
  const { etag } = Object(details) as { readonly etag?: unknown };
  return typeof etag === 'string' ? etag : undefined;
}
