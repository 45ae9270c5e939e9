import { EgressBlockedError, type EgressClient, EgressFailedError, type EgressRequestOptions } from '@recordbus/egress';
import type { Logger } from '@recordbus/process/logging';
import { providerFailed } from './provider-errors.ts';

/** A provider's JSON object; its members may be anything. */
export type Json = Readonly<Record<string, unknown>>;

/** A provider's answer: 2xx with JSON, or 4xx with or without JSON. */
export interface ProviderAnswer {
  readonly status: number;
  readonly json: Json | undefined;
}

/** Calls a provider. Throws 502 for a missing or unreadable answer. */
export type ProviderHttp = (
  url: string,
  request: Pick<EgressRequestOptions, 'method' | 'headers' | 'body'>,
) => Promise<ProviderAnswer>;

/** Each call's limits; redirects are not followed (oauth §1.6). */
const limits = { timeoutMs: 10_000, maxBodyBytes: 1024 * 1024 };

/** Creates the function that makes all calls to providers. It logs why a call failed and hides it from the caller. */
export function createProviderHttp(client: Pick<EgressClient, 'request'>, log: Logger): ProviderHttp {
  return async (url, { headers = [], ...request }) => {
    const fail = (reason: string) => {
      log.warn({ host: URL.parse(url)?.host, reason }, 'OAuth2 provider failed');
      return providerFailed();
    };
    const { status, body, truncated } = await client
      .request(url, {
        ...request,
        ...limits,
        headers: [['Accept', 'application/json'], ['User-Agent', 'Recordbus'], ...headers],
      })
      .catch((error: unknown) => {
        if (error instanceof EgressBlockedError || error instanceof EgressFailedError) throw fail(error.message);
        throw error;
      });
    if (truncated) throw fail(`more than ${limits.maxBodyBytes} bytes`);
    const json = parseObject(body);
    if (status >= 400 && status < 500) return { status, json };
    if (status < 200 || status >= 300) throw fail(`status ${status}`);
    if (!json) throw fail('no JSON object');
    return { status, json };
  };
}

function parseObject(body: Uint8Array): Json | undefined {
  try {
    const text = Buffer.from(body).toString('utf8');
    return objectOf(hasLongNumber.test(text) ? JSON.parse(text, keepLongInteger) : JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A number that may be beyond those that JavaScript keeps exactly. */
const hasLongNumber = /\d{16}/;

/** Keeps an integer above 2^53 as its text: some providers' ids are such numbers (oauth §3.1). */
function keepLongInteger(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^\d{1,255}$/.test(source) ? source : value;
}

/** Returns the value if it is an object or an array. */
export const objectOf = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null ? (value as Json) : undefined;

/** Returns the value at a path of names and indexes; undefined when there is none. */
export function memberOf(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, name) => {
    const object = objectOf(value);
    return object && Object.hasOwn(object, name) ? object[name] : undefined;
  }, json);
}
