import { fileURLToPath } from 'node:url';
import type { Options } from '../options.ts';
import { untilIdle } from '../process-usage.ts';
import { type Product, startProduct } from '../product/start-product.ts';
import { createPostsCollection, newPost } from '../seed.ts';
import { type Measuring, measureRow, type RowResult } from './measure-row.ts';
import type { Row } from './row.ts';

/** Its hooks are for another collection than the written one. */
const extensionsDirectory = fileURLToPath(new URL('../../../../examples/extensions', import.meta.url));

const collection = 'posts';

const row: Row = {
  name: 'extension',
  title: 'create, with an extension for another collection (bare: the product without one)',
  isWrite: true,
  requests: () => ({ method: 'POST', paths: [`/api/v1/records/${collection}`], bodies: [newPost()] }),
};

/** Measures creates in a product whose extensions have no hooks for them, compared to a product without extensions. */
export async function measureBesideExtension(
  measuring: Measuring,
  { logLevel }: Options,
  cleanUp: AsyncDisposableStack,
): Promise<RowResult> {
  const start = async (directory: string | undefined): Promise<Product> => {
    const product = await startProduct({ logLevel, profileDirectory: undefined, extensionsDirectory: directory });
    cleanUp.defer(() => product.stop());
    await product.admin.call('PATCH', '/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
    await createPostsCollection(product.admin, collection);
    return product;
  };
  const [product, bare] = [await start(extensionsDirectory), await start(undefined)];
  await untilIdle([product.pid, bare.pid]);
  const result = await measureRow(row, { ...measuring, product, bare });
  await Promise.all([product.stop(), bare.stop()]);
  return result;
}
