import type { Dispatcher } from 'undici';
import { EgressFailedError } from './egress-error.ts';
import type { EgressRules } from './egress-rules.ts';
import type { EgressResponse } from './exchange.ts';
import { checkUrl, type LookupAll, lookupAll } from './resolve-target.ts';
import type { UndiciClient } from './undici-client.ts';

export type EgressClientOptions = {
  /** The rules in force, asked at every new connection. Call `reset()` after a change. */
  readonly rules: () => EgressRules;
  readonly lookup?: LookupAll;
  /** Exchanges, and so sockets, per origin at a time; further requests wait. Default 64. */
  readonly maxSocketsPerOrigin?: number;
  /** A socket older than this gets no new request, so a moved receiver is found again. Default 60000. */
  readonly socketLifetimeMs?: number;
  /** Ends attempts to connect that nobody answers, before the deadline of the exchange. Default 10000. */
  readonly connectTimeoutMs?: number;
};

export type EgressRequestOptions = {
  /** Default POST. */
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Uint8Array | string;
  /** One deadline for everything: waiting for a socket, DNS, connect, headers and body. */
  readonly timeoutMs: number;
  /** Bytes of the answer's body that are kept. */
  readonly maxBodyBytes: number;
};

export type EgressClient = {
  /**
   * Sends one request. Resolves with any final status, redirects included.
   * Rejects with EgressBlockedError, or EgressFailedError for everything else.
   */
  request(url: string | URL, options: EgressRequestOptions): Promise<EgressResponse>;
  /** Checks where a URL leads, without connecting; rejects as `checkUrl` does. */
  check(url: string | URL): Promise<void>;
  /** Drops every kept-alive connection. What has been sent is finished, what has not is checked again. */
  reset(): void;
  /** Refuses new requests and resolves when those in flight have ended. */
  close(): Promise<void>;
};

/** An HTTP client for URLs that other people chose; see the README for what it refuses to do. */
export function createEgressClient(options: EgressClientOptions): EgressClient {
  let opened: UndiciClient | undefined;
  let opening: Promise<UndiciClient> | undefined;
  let isClosed = false;

  // With the first request: undici is a seventh of what a service loads, and most services rarely call out.
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
