import pg from 'pg';
import { seed } from '../seed.ts';
import type { Product } from './start-product.ts';

/** Lifts a product's rate limits and seeds its database. Returns a connection to it. */
export async function fillProduct(product: Product, cleanUp: AsyncDisposableStack): Promise<pg.Client> {
  await product.admin.call('PATCH', '/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
  const database = new pg.Client({ connectionString: product.databaseUrl });
  await database.connect();
  cleanUp.defer(() => database.end());
  await seed(product.admin, database);
  return database;
}
