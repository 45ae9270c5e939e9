import type { Dispatcher } from 'undici';
import { EgressFailedError } from './egress-error.ts';
import type { EgressRules } from './egress-rules.ts';
import type { EgressResponse } from './exchange.ts';
import { checkUrl, type LookupAll, lookupAll } from './resolve-target.ts';
import type { UndiciClient } from './undici-client.ts';

export type EgressClientOptions = {
  /** Returns the current rules; called for every new connection. Call `reset()` after a change. */
  readonly rules: () => EgressRules;
  readonly lookup?: LookupAll;
  /** How many requests run at once, and so how many sockets are open, per origin; further requests wait. Default 64. */
  readonly maxSocketsPerOrigin?: number;
  /** A socket older than this gets no new request, so that a receiver that moved is found. Default 60000. */
  readonly socketLifetimeMs?: number;
  /** The timeout for connecting, within the request's deadline. Default 10000. */
  readonly connectTimeoutMs?: number;
};

export type EgressRequestOptions = {
  /** Default POST. */
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Uint8Array | string;
  /** One deadline for the wait for a socket, DNS, connect, headers and body. */
  readonly timeoutMs: number;
  /** How many bytes of the answer's body are kept. */
  readonly maxBodyBytes: number;
  /**
   * Asked right before the first byte is sent, when the connection is ready. If it returns false, the request is not sent, and
   * rejects with the code `EGRESS_WITHDRAWN`.
   */
  readonly mayStart?: () => boolean;
};

export type EgressClient = {
  /**
   * Sends one request. Resolves with any final status, redirects included.
   * Rejects with EgressBlockedError, or EgressFailedError for everything else.
   */
  request(url: string | URL, options: EgressRequestOptions): Promise<EgressResponse>;
  /** Loads what the first request needs. */
  warm(): Promise<void>;
  /** Checks a URL's addresses without connecting; rejects like `checkUrl`. */
  check(url: string | URL): Promise<void>;
  /** Closes every kept-alive connection. Sent requests finish; waiting requests are checked again. */
  reset(): void;
  /** Refuses new requests and resolves when the requests in flight have ended. */
  close(): Promise<void>;
};

/** Creates an HTTP client for URLs that others chose. The README says what it does not do. */
export function createEgressClient(options: EgressClientOptions): EgressClient {
  let opened: UndiciClient | undefined;
  let opening: Promise<UndiciClient> | undefined;
  let isClosed = false;

  // Not loaded at the start: undici is a seventh of a service's code, and most services rarely send requests.
  async function open(): Promise<UndiciClient> {
    const { createUndiciClient } = await import('./undici-client.ts');
    opened = createUndiciClient(options);
    return opened;
  }

  return {
    async request(url, requestOptions) {
      if (isClosed) throw new EgressFailedError('the egress client is closed', 'EGRESS_CLOSED');
      if (opened) return opened.request(url, requestOptions);
      opening ??= open();
      return (await opening).request(url, requestOptions);
    },
    async warm() {
      opening ??= open();
      await opening;
    },
    async check(url) {
      await checkUrl(options.rules(), url, options.lookup ?? lookupAll);
    },
    reset() {
      opened?.reset();
    },
    async close() {
      isClosed = true;
      await (await opening)?.close();
    },
  };
}
