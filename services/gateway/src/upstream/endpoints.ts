import { lookup } from 'node:dns/promises';
import { type BackgroundTask, every } from '@recordbus/shared/background';
import { maxHeaderBytes } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { Pool } from 'undici';

/** One replica of a service: an address that its name resolves to. */
export interface Endpoint {
  readonly address: string;
  readonly pool: Pool;
  inFlight: number;
  /** It cannot be reached or hangs; it gets requests again once it answers, or when no other is left. */
  isDown: boolean;
}

export interface EndpointsOptions {
  readonly name: string;
  readonly url: URL;
  readonly log: Logger;
  /** Longest wait for the head of an answer, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** Every address of a host name. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  /** Called when a connection was made after one was lost: the service may be another version. */
  readonly onReconnect: () => void;
}

/** How often names are resolved again and replicas that are down are tried, in milliseconds. */
const upkeepMs = 2000;

/** A replica that takes longer to say that it is alive is taken out, in milliseconds. */
const probeTimeoutMs = 2000;

/** A replica that is there accepts a connection at once; one whose machine is gone says nothing at all. */
const connectTimeoutMs = 2000;

/** Most connections to one replica; more requests than that wait. */
const connectionsPerReplica = 256;

const resolveAll = async (hostname: string): Promise<readonly string[]> =>
  (await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true })).map(({ address }) => address);

/**
 * The replicas of a service, one pool of connections each. A name with several addresses (`--scale`) is spread over:
 * one kept-alive pool for the name would stay with the address that it found first.
 */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #resolve: (hostname: string) => Promise<readonly string[]>;
  #endpoints: Endpoint[] = [];
  #turn = 0;
  readonly #upkeep: BackgroundTask;
  #hasLostConnection = false;
  #isStopped = false;

  constructor(options: EndpointsOptions) {
    this.#options = options;
    this.#resolve = options.resolve ?? resolveAll;
    this.#upkeep = every({
      name: `look after the replicas of ${options.name}`,
      log: options.log,
      intervalMs: upkeepMs,
      firstAfterMs: upkeepMs,
      run: () => this.#lookAfter(),
    });
  }

  /** Resolves the name, and again for as long as this lives. */
  async start(): Promise<void> {
    await this.#resolveName();
    this.#upkeep.start();
  }

  /** The least busy replica that is up and not in `tried`, equals in turn; one that is down when there is no other. */
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

  /** Every replica, also those that are down. */
  all(): readonly Endpoint[] {
    return this.#endpoints;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    // Not awaited: a name that does not resolve takes its time to say so.
    void this.#upkeep.stop();
    await Promise.all(this.#endpoints.splice(0).map(({ pool }) => pool.close()));
  }

  async #lookAfter(): Promise<void> {
    const isOneOfMany = this.#endpoints.length > 1;
    const inDoubt = this.#endpoints.filter(({ isDown }) => isDown || isOneOfMany);
    await Promise.all([this.#resolveName(), ...inDoubt.map((endpoint) => this.#probe(endpoint))]);
  }

  async #resolveName(): Promise<void> {
    const { name, url, log } = this.#options;
    try {
      const addresses = await this.#resolve(url.hostname);
      if (!this.#isStopped) this.#replace(addresses);
    } catch (error) {
      // The addresses of a moment ago are a better guess than none.
      log.warn({ err: error, upstream: name }, 'the name of a service does not resolve');
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
    const pool = new Pool(origin, {
      connections: connectionsPerReplica,
      connect: { timeout: connectTimeoutMs },
      headersTimeout: answerTimeoutMs,
      bodyTimeout: answerTimeoutMs,
      maxHeaderSize: maxHeaderBytes,
    });
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
    return { address, pool, inFlight: 0, isDown: false };
  }

  /** Is it there? One that hangs still takes connections, and each request that it gets would wait in vain. */
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
