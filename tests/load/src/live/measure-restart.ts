import type { Options } from '../options.ts';
import { type Product, startProduct } from '../product/start-product.ts';
import { type ClientProcess, startClients } from './client-process.ts';

/** A product's restart with all its live connections. */
export interface RestartResults {
  /** From the kill until the process is ready again, in seconds. */
  readonly readyInSec: number;
  /** From the kill until every client is back with its cursor. */
  readonly resumedInSec: number;
  /** How many clients got the change after the restart. */
  readonly informed: number;
  readonly failures: number;
}

const collection = 'livepublic';
const patienceMs = 60_000;

/** Kills a separate product with this many live connections, and measures until all clients are back. */
export async function measureRestart(options: Options, connections: number): Promise<RestartResults> {
  await using cleanUp = new AsyncDisposableStack();
  const product = await startProduct({ logLevel: options.logLevel, profileDirectory: undefined });
  cleanUp.defer(() => product.stop());
  await prepare(product);
  const clients = cleanUp.use(await startClients());
  const tokens = Array<undefined>(connections).fill(undefined);
  const opening = { url: product.url, subscription: { collection }, tokens };
  await clients.open(opening);
  const after = await cursorOf(product, clients);
  await clients.close();

  const killedAtMs = performance.now();
  const secondsSince = () => (performance.now() - killedAtMs) / 1000;
  const restarting = product.restart().then(secondsSince);
  const { failures } = await clients.open({ ...opening, after, patienceMs });
  const resumedInSec = secondsSince();
  const readyInSec = await restarting;
  await create(product);
  return { readyInSec, resumedInSec, failures, informed: await countInformed(clients, connections) };
}

async function prepare({ admin }: Product): Promise<void> {
  const settings = { 'rate_limit.enabled': '0', 'realtime.max_connections_per_address': '1000000' };
  await admin.call('PATCH', '/api/v1/admin/settings', settings);
  const fields = [{ name: 'text', type: 'text' }];
  await admin.call('POST', '/api/v1/collections', { name: collection, type: 'base', fields, list_rule: null });
}

const create = ({ admin }: Product) => admin.call('POST', `/api/v1/records/${collection}`, { text: 'to everyone' });

/** Returns the cursor at a change that the clients saw. */
async function cursorOf(product: Product, clients: ClientProcess): Promise<string> {
  await create(product);
  for (const untilMs = performance.now() + patienceMs; performance.now() < untilMs; ) {
    const { cursor } = await clients.report();
    if (cursor !== '') return cursor;
  }
  throw new Error('no client saw a change before the restart');
}

async function countInformed(clients: ClientProcess, expected: number): Promise<number> {
  let informed = 0;
  for (const untilMs = performance.now() + patienceMs; informed < expected && performance.now() < untilMs; ) {
    for (const { count } of (await clients.report()).arrivals.values()) informed += count;
  }
  return informed;
}
