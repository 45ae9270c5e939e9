import { missingPgBouncer } from '../servers/pgbouncer.ts';
import type { Server } from '../servers/server.ts';
import { isPooled, startNats, startPostgres } from '../servers/servers.ts';
import { bundleProduct } from './product-bundle.ts';
import { openStackPool, type StackPool } from './stack-pool.ts';

let servers: Server[] = [];
let pool: StackPool | undefined;

/** Runs before all tests: starts a database server and a bus for tests that do not break them, and a pool of stacks. */
export async function globalSetup(): Promise<void> {
  const missing = isPooled && missingPgBouncer();
  if (missing) throw new Error(`TEST_DATABASE=pgbouncer ${missing}`);
  const [postgres, nats, bundle] = await Promise.all([startPostgres(), startNats(), bundleProduct()]);
  servers = [postgres, nats];
  process.env.TEST_DATABASE_URL ??= postgres.url;
  process.env.TEST_NATS_URL ??= nats.url;
  process.env.TEST_PRODUCT ??= bundle;
  pool = await openStackPool();
  process.env.TEST_STACK_POOL = pool.address;
}

/** Runs after all tests. */
export async function globalTeardown(): Promise<void> {
  await pool?.stop();
  await Promise.all(servers.map((server) => server.remove()));
}
