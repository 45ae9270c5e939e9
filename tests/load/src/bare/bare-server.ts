import { fileURLToPath } from 'node:url';
import { startProcess } from '../child-process.ts';
import { findDatabaseProcess } from '../product/product-layout.ts';
import type { Product } from '../product/start-product.ts';

interface BareServer {
  readonly url: string;
  readonly pid: number;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** Starts the bare server on the product's database. */
export async function startBareServer({
  databaseUrl,
  dataDirectory,
}: Pick<Product, 'databaseUrl' | 'dataDirectory'>): Promise<BareServer> {
  const child = startProcess(fileURLToPath(new URL('main.ts', import.meta.url)), { args: [databaseUrl] });
  const { url } = await child.message<{ url: string }>();
  const pids = [child.pid, await findDatabaseProcess(dataDirectory)];
  return { url, pid: child.pid, pids, stop: () => child.stop() };
}
