import { type Client, createClient } from '../../harness/clients/client.ts';
import { type LiveList, openLiveList } from '../../harness/clients/live-list.ts';
import { createWebhook } from '../../harness/clients/webhook.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import { type CutProxy, startCutProxy } from '../../harness/network/cut-proxy.ts';
import { type Receiver, startReceiver } from '../../harness/servers/receiver.ts';
import type { Server } from '../../harness/servers/server.ts';
import { startNats, startPostgres } from '../../harness/servers/servers.ts';
import { startSecondGateway } from '../../harness/stacks/service-process.ts';
import { createGround, firstAdmin, startStack } from '../../harness/stacks/stack.ts';

/** The parts between which a network can fail. */
export type LinkName =
  | 'clients to gateway'
  | 'gateway to services'
  | 'services to PostgreSQL'
  | 'services to NATS'
  | 'webhooks to receiver';

/** The faults that a test causes between two parts. */
export type PlayedLink = Pick<CutProxy, 'cut' | 'stall' | 'slow' | 'forget' | 'restore'>;

/** The product, with a test proxy between all its parts. */
export interface ProxiedProduct extends AsyncDisposable {
  readonly links: Readonly<Record<LinkName, PlayedLink>>;
  /** A guest, who calls the gateway through its proxy. */
  readonly guest: Client;
  /** The first admin, who calls it directly. */
  readonly admin: Client;
  /** The gateway without its proxy. */
  readonly direct: Client;
  readonly receiver: Receiver;
  /** A client's live list, which connects through the proxy. */
  readonly list: LiveList;
  /** The bus without its proxy. */
  readonly natsUrl: string;
  readonly postgres: Server;
  readonly nats: Server;
}

/** The collection that is written, delivered and followed. */
export const collection = 'meters';

/** How long the gateway waits for a service's answer. */
const answerTimeoutMs = 10_000;

const throughProxy = (url: string, { port }: CutProxy): string =>
  Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href;

/** Starts every service in its own process, on its own database server and bus. */
export async function startProxiedProduct(): Promise<ProxiedProduct> {
  await using starting = new AsyncDisposableStack();
  const proxyTo = async (url: string): Promise<CutProxy> => starting.use(await startCutProxy(url));
  const postgres = starting.use(await startPostgres());
  const nats = starting.use(await startNats());
  const toDatabase = await proxyTo(postgres.url);
  const toBus = await proxyTo(nats.url);
  const ground = starting.use(
    await createGround(
      { url: throughProxy(postgres.url, toDatabase), drop: async () => {} },
      { ...nats, url: throughProxy(nats.url, toBus), remove: async () => {} },
    ),
  );
  const stack = starting.use(await startStack({ topology: 'processes', ground }));
  const services = Object.entries(stack.services).filter(([name]) => name !== 'gateway');
  const toServices = await Promise.all(services.map(([, { url }]) => proxyTo(url)));
  const urls = services.map(([name], index) => [`SERVICE_${name.toUpperCase()}_URL`, toServices[index]?.url ?? '']);
  const gateway = starting.use(
    await startSecondGateway(stack, {
      ...Object.fromEntries(urls),
      SERVICE_ANSWER_TIMEOUT_MS: String(answerTimeoutMs),
    }),
  );
  const toGateway = await proxyTo(gateway.url);
  const receiver = starting.use(await startReceiver());
  const toReceiver = await proxyTo(receiver.url);

  // Sets up the admin at the first gateway. All replicas know the admin.
  await stack.admin();
  await eventually('the gateway has the routes', async () => (await gateway.guest.get('/readyz')).status === 200);
  const session = await gateway.guest.post('/api/v1/admin/login', firstAdmin, 200);
  const admin = createClient(gateway.url, textAt(session, 'token'));
  await admin.post('/api/v1/collections', {
    name: collection,
    type: 'base',
    fields: [{ name: 'value', type: 'number' }],
  });
  // Enough attempts that no delivery becomes a dead letter during the longest fault.
  const retries = { retry_max: 50, retry_backoff: 'fixed', retry_delay_ms: 1000 };
  await createWebhook(admin, `${toReceiver.url}/hook`, [`${collection}.*`], retries);
  const list = starting.use(openLiveList({ urlOf: () => toGateway.url, collection }));
  const kept = starting.move();
  return {
    links: {
      'clients to gateway': toGateway,
      'gateway to services': allOf(toServices),
      'services to PostgreSQL': toDatabase,
      'services to NATS': toBus,
      'webhooks to receiver': toReceiver,
    },
    guest: createClient(toGateway.url),
    admin,
    direct: gateway.guest,
    receiver,
    list,
    natsUrl: nats.url,
    postgres,
    nats,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function allOf(proxies: readonly CutProxy[]): PlayedLink {
  const each = (play: (proxy: CutProxy) => void): void => {
    for (const proxy of proxies) play(proxy);
  };
  return {
    cut: () => each((proxy) => proxy.cut()),
    stall: () => each((proxy) => proxy.stall()),
    slow: (link) => each((proxy) => proxy.slow(link)),
    forget: () => each((proxy) => proxy.forget()),
    restore: () => each((proxy) => proxy.restore()),
  };
}
