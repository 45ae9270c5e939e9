import { lookup } from 'node:dns/promises';
import { maxHeaderBytes } from '@recordbus/http';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { Client, Pool } from 'undici';

/** One service replica: an address that its name resolves to. */
export interface Endpoint {
  readonly address: string;
  readonly pool: Pool;
  /** Creates a separate connection for one request, whose answer may be silent once it has begun. */
  readonly connect: () => Client;
  inFlight: number;
  /** Whether it does not answer. It gets no requests until it answers again, unless every other replica is down too. */
  isDown: boolean;
}

export interface EndpointsOptions {
  readonly name: string;
  readonly url: URL;
  readonly log: Logger;
  /** Longest wait for an answer's head, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** Returns every address that a host name has. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  /** Called when a connection is made after one was lost. The service may now have another version. */
  readonly onReconnect: () => void;
}

/** How often the name is resolved again and replicas are probed, in milliseconds. */
const checkEveryMs = 2000;

/** A replica whose health check takes longer counts as down, in milliseconds. */
const probeTimeoutMs = 2000;

/** A live replica accepts a connection at once; a machine that is gone never answers. In milliseconds. */
const connectTimeoutMs = 2000;

/** How many connections one replica may have. Further requests wait for a free one. */
export const connectionsPerReplica = 1024;

const resolveAll = async (hostname: string): Promise<readonly string[]> =>
  (await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true })).map(({ address }) => address);

/**
 * A service's replicas, each with its own connection pool. Requests are spread over every address of the name
 * (`--scale`); a single keep-alive pool for the name would stay with the first address.
 */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #resolve: (hostname: string) => Promise<readonly string[]>;
  #endpoints: Endpoint[] = [];
  #turn = 0;
  readonly #checking: BackgroundTask;
  #hasLostConnection = false;
  #isStopped = false;

  constructor(options: EndpointsOptions) {
    this.#options = options;
    this.#resolve = options.resolve ?? resolveAll;
    this.#checking = every({
      name: `check the ${options.name} replicas`,
      log: options.log,
      intervalMs: checkEveryMs,
      firstAfterMs: checkEveryMs,
      run: () => this.#check(),
    });
  }

  /** Resolves the name now, and again at each check until `stop`. */
  async start(): Promise<void> {
    await this.#resolveName();
    this.#checking.start();
  }

  /**
   * Returns the least busy replica that is up and not in `tried`, or one that is down if no other is left. Equally busy
   * replicas take turns.
   */
  pick(tried?: ReadonlySet<Endpoint>): Endpoint | undefined {
    const endpoints = this.#endpoints;
    this.#turn += 1;
    let best: Endpoint | undefined;
    for (let offset = 0; offset < endpoints.length; offset += 1) {
      const endpoint = endpoints[(this.#turn + offset) % endpoints.length];
      if (!endpoint || tried?.has(endpoint)) continue;
      if (!best || rank(endpoint) < rank(best)) best = endpoint;
    }
    return best;
  }

  /** Returns every replica, including those that are down. */
  all(): readonly Endpoint[] {
    return this.#endpoints;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    // Not awaited: resolving an unknown name can take long.
    void this.#checking.stop();
    await Promise.all(this.#endpoints.splice(0).map(({ pool }) => pool.close()));
  }

  async #check(): Promise<void> {
    const isOneOfMany = this.#endpoints.length > 1;
    const toProbe = this.#endpoints.filter(({ isDown }) => isDown || isOneOfMany);
    await Promise.all([this.#resolveName(), ...toProbe.map((endpoint) => this.#probe(endpoint))]);
  }

  async #resolveName(): Promise<void> {
    const { name, url, log } = this.#options;
    try {
      const addresses = await this.#resolve(url.hostname);
      if (!this.#isStopped) this.#replace(addresses);
    } catch (error) {
      // The previous addresses stay in use: they are a better guess than none.
      log.warn({ err: error, upstream: name }, 'a service name does not resolve');
    }
  }

  #replace(addresses: readonly string[]): void {
    const known = new Map(this.#endpoints.map((endpoint) => [endpoint.address, endpoint]));
    this.#endpoints = [...new Set(addresses)].map((address) => known.get(address) ?? this.#connectTo(address));
    for (const endpoint of known.values()) if (!this.#endpoints.includes(endpoint)) void endpoint.pool.close();
  }

  #connectTo(address: string): Endpoint {
    const { url, answerTimeoutMs, onReconnect } = this.#options;
    const origin = new URL(url.origin);
    origin.hostname = address.includes(':') ? `[${address}]` : address;
    const common = {
      connect: { timeout: connectTimeoutMs },
      headersTimeout: answerTimeoutMs,
      maxHeaderSize: maxHeaderBytes,
    };
    const pool = new Pool(origin, { ...common, connections: connectionsPerReplica, bodyTimeout: answerTimeoutMs });
    const connect = () => new Client(origin, { ...common, bodyTimeout: 0 });
    const lost = () => {
      this.#hasLostConnection = true;
    };
    pool.on('disconnect', lost);
    pool.on('connectionError', lost);
    pool.on('connect', () => {
      if (!this.#hasLostConnection) return;
      this.#hasLostConnection = false;
      onReconnect();
    });
    return { address, pool, connect, inFlight: 0, isDown: false };
  }

  /** Checks whether a replica is alive. A replica that hangs still accepts connections, so only a request can tell. */
  async #probe(endpoint: Endpoint): Promise<void> {
    const { name, log } = this.#options;
    const wasDown = endpoint.isDown;
    try {
      const timeouts = { headersTimeout: probeTimeoutMs, bodyTimeout: probeTimeoutMs };
      const { body } = await endpoint.pool.request({ method: 'GET', path: '/healthz', ...timeouts });
      await body.dump();
      endpoint.isDown = false;
    } catch {
      endpoint.isDown = true;
    }
    if (wasDown !== endpoint.isDown && !this.#isStopped)
      log.warn(
        { upstream: name, address: endpoint.address },
        endpoint.isDown ? 'a replica does not answer' : 'a replica answers again',
      );
  }
}

/** Lower is better: replicas that are down come after all others. */
const rank = ({ isDown, inFlight }: Endpoint) => inFlight + (isDown ? 1e9 : 0);
