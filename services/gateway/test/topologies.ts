import type { ListeningServer } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import { createServiceApp } from '@recordbus/http/service-app';
import { createLogger } from '@recordbus/process/logging';
import { createMetrics } from '@recordbus/process/metrics';
import { createContextSigner } from '@recordbus/request/context';
import type { Accounts } from '@recordbus/sessions';
import { fixedSettings } from '@recordbus/settings/testing';
import { createTokenSigner } from '@recordbus/tokens';
import {
  createGateway,
  type Gateway,
  localUpstream,
  type RequestLog,
  type ServiceKeys,
  type SessionUse,
  type Upstream,
} from '../src/app.ts';
import { createOwnWindows } from '../src/rate-limit/rate-windows.ts';
import { httpUpstream } from '../src/upstream/http-upstream.ts';
import { listenInTest } from './listen-in-test.ts';

export const secret = Buffer.from('a secret for tests, over 32 characters');
export const contextSigner = createContextSigner(secret);
export const signer = createTokenSigner(secret);
export const quiet = createLogger('test', 'silent');

/** A bus without notices. */
export const bus: Parameters<typeof httpUpstream>[0]['bus'] = { onNotice: () => () => {} };

/** Accounts that accept every session as its token describes it. */
const trustingAccounts: Pick<Accounts, 'findPrincipal'> = {
  findPrincipal: async ({ principal }) => principal,
};

/** Knows no service key. */
const noKeys: ServiceKeys = {
  verify: async () => ({ refusal: 'unknown', id: undefined }),
  admits: async () => false,
  use: { note: () => {} },
  refused: { note: () => {} },
  start: () => {},
  stop: async () => {},
};

/** Notes nothing. */
const noSessionUse: SessionUse = { note: () => {}, start: () => {}, stop: async () => {} };

/** A request log that discards every request. */
export const discardingLog: RequestLog = {
  note: () => {},
  noteRefusal: () => {},
  list: async () => ({ rows: [], totalItems: 0 }),
  summarize: async () => ({ since: 0, until: 0, step_s: 1, is_complete: true, buckets: [] }),
  waiting: () => 0,
  lost: () => 0,
  start: () => {},
  stop: async () => {},
};

const noMovedTokens = { find: () => undefined, verify: async () => undefined };

/** No test here is about PocketBase's clients. */
const noCollections: GatewayDeps['collections'] = {
  open: async () => ({ all: () => [], version: 0 }),
  version: () => 0,
  close: async () => {},
};

type GatewayDeps = Parameters<typeof createGateway>[0];

/** Creates a gateway with default settings and these tests' secret, unless the test gives others. */
export const createTestGateway = (deps: Pick<GatewayDeps, 'log' | 'upstreams'> & Partial<GatewayDeps>): Gateway =>
  createGateway({
    secret,
    settings: fixedSettings(),
    accounts: trustingAccounts,
    movedTokens: noMovedTokens,
    keys: noKeys,
    sessionUse: noSessionUse,
    useTicket: async () => true,
    windows: { ...createOwnWindows(() => performance.now()), start: () => {}, stop: async () => {} },
    requestLog: discardingLog,
    recentWrites: undefined,
    bus: { ask: async () => undefined, answerAt: () => () => {} },
    collections: noCollections,
    database: { query: async () => [] },
    processMetrics: createMetrics('gateway'),
    trustedProxies: [],
    ...deps,
  });

/** A gateway that is listening, and the services behind it. */
export interface RunningGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a gateway before these services; `answerTimeoutMs` is a minute by default. */
export type Topology = (services: readonly Service[], answerTimeoutMs?: number) => Promise<RunningGateway>;

/** A service in the gateway's own process. */
export const inProcess = (service: Service, answerTimeoutMs = 60_000, log = quiet): Upstream =>
  localUpstream(service, { log, answerTimeoutMs });

/** Serves a gateway on a free port. */
export async function serve(gateway: Gateway, more: readonly ListeningServer[] = []): Promise<RunningGateway> {
  // When a step throws, what was started before it is stopped.
  await using starting = new AsyncDisposableStack();
  for (const one of more) starting.defer(() => one.close());
  starting.defer(() => gateway.stop());
  await gateway.start();
  const server = starting.use(await listenInTest(gateway.app, { host: '127.0.0.1', port: 0, acceptsWebSockets: true }));
  const started = starting.move();
  const stop = (): Promise<void> => started.disposeAsync();
  return { gateway, url: server.url, port: server.port, stop, [Symbol.asyncDispose]: stop };
}

/** Serves a service alone, as in its own process. */
export const serveAlone = (
  service: Service,
  port = 0,
  host = '127.0.0.1',
): Promise<ListeningServer & AsyncDisposable> =>
  listenInTest(createServiceApp(service, contextSigner, quiet), {
    host,
    port,
    isBehindGateway: true,
    acceptsWebSockets: service.upgrade !== undefined,
  });

/** The two ways to run services behind a gateway. */
export const topologies: Readonly<Record<string, Topology>> = {
  'in one process': (services, answerTimeoutMs) =>
    serve(createTestGateway({ log: quiet, upstreams: services.map((one) => inProcess(one, answerTimeoutMs)) })),
  'over HTTP': async (services, answerTimeoutMs = 60_000) => {
    const servers = await Promise.all(services.map((service) => serveAlone(service)));
    const upstreams = services.map(({ name }, index) =>
      httpUpstream({ name, url: servers[index]?.url ?? '', contextSigner, bus, log: quiet, answerTimeoutMs }),
    );
    return serve(createTestGateway({ log: quiet, upstreams }), servers);
  },
};
