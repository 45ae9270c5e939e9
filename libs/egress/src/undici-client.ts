import { Agent, type buildConnector, Pool } from 'undici';
import type { EgressClient, EgressClientOptions, EgressRequestOptions } from './egress-client.ts';
import { EgressFailedError } from './egress-error.ts';
import { EgressExchange, type EgressResponse } from './exchange.ts';
import { createOriginSlots } from './origin-slots.ts';
import { parseTarget } from './parse-target.ts';
import { createPinnedConnector } from './pinned-connector.ts';
import { toRawHeaders } from './request-headers.ts';
import { lookupAll } from './resolve-target.ts';
import { toEgressError } from './to-egress-error.ts';

/** The part of an egress client that sends requests. The client itself refuses them once it is closed. */
export type UndiciClient = Omit<EgressClient, 'check' | 'warm'>;

const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 30_000;

/** Creates a client on an undici agent that connects only to allowed addresses. */
export function createUndiciClient(options: EgressClientOptions): UndiciClient {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const socketLifetimeMs = options.socketLifetimeMs ?? 60_000;
  const maxSocketsPerOrigin = options.maxSocketsPerOrigin ?? 64;
  const lookup = options.lookup ?? lookupAll;
  const connect = createPinnedConnector({ rules: options.rules, lookup, connectTimeoutMs });
  const openAgent = () => createAgent({ connect, socketLifetimeMs, maxSocketsPerOrigin });
  const slots = createOriginSlots(maxSocketsPerOrigin);
  let agent = openAgent();
  let inFlight = 0;
  let closing: Promise<void> | undefined;
  let onIdle: (() => void) | undefined;

  async function shutDown(): Promise<void> {
    if (inFlight > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    // Not a graceful close, which would wait for connections that no request needs.
    await agent.destroy();
  }

  const currentAgent = () => agent;

  return {
    async request(url, { timeoutMs, maxBodyBytes, mayStart, ...message }) {
      const dispatch = dispatchOf(parseTarget(url), message);
      const { origin } = dispatch;
      inFlight++;
      const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>();
      const exchange = new EgressExchange({
        origin,
        dispatch,
        timeoutMs,
        maxBodyBytes,
        mayStart,
        slots,
        currentAgent,
        resolve,
        reject,
      });
      try {
        return await promise;
      } catch (thrown) {
        const error = toEgressError(thrown, connectTimeoutMs);
        if (error instanceof EgressFailedError) error.answer = exchange.begunAnswer();
        throw error;
      } finally {
        inFlight--;
        if (inFlight === 0) onIdle?.();
      }
    },

    reset() {
      if (closing) return;
      const old = agent;
      agent = openAgent();
      void old.close();
    },

    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

interface AgentOptions extends Required<Pick<EgressClientOptions, 'socketLifetimeMs' | 'maxSocketsPerOrigin'>> {
  readonly connect: buildConnector.connector;
}

const createAgent = ({ connect, socketLifetimeMs, maxSocketsPerOrigin }: AgentOptions): Agent =>
  new Agent({
    connect,
    allowH2: false,
    connections: maxSocketsPerOrigin,
    clientTtl: socketLifetimeMs,
    keepAliveTimeout: Math.min(KEEP_ALIVE_MS, socketLifetimeMs),
    keepAliveMaxTimeout: Math.min(KEEP_ALIVE_MAX_MS, socketLifetimeMs),
    // The exchange has its own deadline. These timeouts would add two timers to each request.
    headersTimeout: 0,
    bodyTimeout: 0,
    // For a single connection undici would use a bare client, which has no lifetime.
    factory: (origin, poolOptions) => new Pool(origin, poolOptions),
  });

const dispatchOf = (
  { origin, pathname, search }: URL,
  { method = 'POST', headers = [], body }: Pick<EgressRequestOptions, 'method' | 'headers' | 'body'>,
) => ({ origin, path: pathname + search, method, headers: toRawHeaders(headers), body: body ?? null });
