import { setTimeout } from 'node:timers/promises';
import { Failure } from './failure.ts';

interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** A success's `data`. */
  readonly data: T;
  /** An error's message. */
  readonly error: string | undefined;
}

/** An HTTP client for the stack, as a guest or with a token. */
export interface Client {
  readonly url: string;
  /** Returns the answer, also an error. Throws Failure when there is no answer. */
  send<T>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
  /** Returns a success's `data`. Throws Failure with an error's message. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
}

const answerTimeoutMs = 20_000;

/** How often a rate-limited request is repeated, each time after the wait in Retry-After. */
const maxRetries = 20;

/** Creates a client for the stack at `url`. */
export function createClient(url: string, token?: string): Client {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };

  async function exchange(method: string, path: string, body: unknown): Promise<Response> {
    const signal = AbortSignal.timeout(answerTimeoutMs);
    const init = { method, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return fetch(`${url}${path}`, init).catch((error: Error) => {
      throw new Failure(`No answer from ${url}: ${reasonOf(error)}.`);
    });
  }

  async function send<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    for (let left = maxRetries; ; left -= 1) {
      const response = await exchange(method, path, body);
      const waitSec = Number(response.headers.get('retry-after'));
      if (response.status === 429 && waitSec > 0 && waitSec <= 60 && left > 0) {
        await response.body?.cancel();
        await setTimeout(waitSec * 1000);
        continue;
      }
      const { data, error } = (await response.json().catch(() => ({}))) as { data: T; error?: string };
      return { status: response.status, headers: response.headers, data, error };
    }
  }

  return {
    url,
    send,
    async call<T>(method: string, path: string, body?: unknown) {
      const { status, data, error } = await send<T>(method, path, body);
      if (status >= 300)
        throw new Failure(`${method} ${path} was refused with ${status}: ${error ?? 'no reason given'}.`);
      return data;
    },
  };
}

/** Returns why a fetch failed, which is in its error's cause. */
const reasonOf = (error: Error): string => (error.cause instanceof Error ? error.cause.message : '') || error.message;
