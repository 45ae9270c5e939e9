import { Agent, type Dispatcher, Pool } from 'undici';
import { EgressFailedError } from './egress-error.ts';
import type { EgressRules } from './egress-rules.ts';
import { type EgressResponse, Exchange } from './exchange.ts';
import { createOriginSlots } from './origin-slots.ts';
import { parseTarget } from './parse-target.ts';
import { createPinnedConnector } from './pinned-connector.ts';
import { toRawHeaders } from './request-headers.ts';
import { checkUrl, type LookupAll, lookupAll } from './resolve-target.ts';
import { toEgressError } from './to-egress-error.ts';

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

const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 30_000;

/** An HTTP client for URLs that other people chose; see the README for what it refuses to do. */
export function createEgressClient(options: EgressClientOptions): EgressClient {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const socketLifetimeMs = options.socketLifetimeMs ?? 60_000;
  const maxSocketsPerOrigin = options.maxSocketsPerOrigin ?? 64;
  const lookup = options.lookup ?? lookupAll;
  const connect = createPinnedConnector({ rules: options.rules, lookup, connectTimeoutMs });
  const slots = createOriginSlots(maxSocketsPerOrigin);
  let agent = createAgent();
  let inFlight = 0;
  let closing: Promise<void> | undefined;
  let onIdle: (() => void) | undefined;

  function createAgent(): Agent {
    return new Agent({
      connect,
      allowH2: false,
      connections: maxSocketsPerOrigin,
      clientTtl: socketLifetimeMs,
      keepAliveTimeout: Math.min(KEEP_ALIVE_MS, socketLifetimeMs),
      keepAliveMaxTimeout: Math.min(KEEP_ALIVE_MAX_MS, socketLifetimeMs),
      // The exchange has its own deadline; these would be two more timers per request.
      headersTimeout: 0,
      bodyTimeout: 0,
      // For a single connection undici would take a bare client, which knows no lifetime.
      factory: (origin, poolOptions) => new Pool(origin, poolOptions),
    });
  }

  async function shutDown(): Promise<void> {
    if (inFlight > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    // Not a graceful close: that would wait for connections which nobody waits for any more.
    await agent.destroy();
  }

  const currentAgent = () => agent;

  return {
    async request(url, { method = 'POST', headers = [], body, timeoutMs, maxBodyBytes }) {
      if (closing) throw new EgressFailedError('the egress client is closed', 'EGRESS_CLOSED');
      const target = parseTarget(url);
      const { origin } = target;
      const dispatch = {
        origin,
        path: target.pathname + target.search,
        method,
        headers: toRawHeaders(headers),
        body: body ?? null,
      };
      inFlight++;
      try {
        return await new Promise<EgressResponse>((resolve, reject) => {
          new Exchange({ origin, dispatch, timeoutMs, maxBodyBytes, slots, currentAgent, resolve, reject });
        });
      } catch (error) {
        throw toEgressError(error, connectTimeoutMs);
      } finally {
        inFlight--;
        if (inFlight === 0) onIdle?.();
      }
    },

    async check(url) {
      await checkUrl(options.rules(), url, lookup);
    },

    reset() {
      if (closing) return;
      const old = agent;
      agent = createAgent();
      void old.close();
    },

    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}
