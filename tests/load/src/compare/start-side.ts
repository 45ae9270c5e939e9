import type { Generator } from '../generator/generator.ts';
import type { Options } from '../options.ts';
import { untilIdle } from '../process-usage.ts';
import { fillProduct } from '../product/fill-product.ts';
import { startProduct } from '../product/start-product.ts';
import { type Measuring, runRound } from '../rows/measure-row.ts';
import type { ComparedSide } from './compare-row.ts';

/** Starts the product from this checkout, or from another one, with a filled database and without a bare server. */
export async function startSide(
  options: Options,
  generator: Generator,
  cleanUp: AsyncDisposableStack,
  checkout?: string,
): Promise<ComparedSide> {
  const product = await startProduct({ ...options, checkout });
  cleanUp.defer(() => product.stop());
  const database = await fillProduct(product, cleanUp);
  await untilIdle([product.pid]);
  const { admin, url } = product;
  const measuring: Measuring = { ...options, generator, database, product, bare: product, admin };
  return {
    prepare: async (row) => row.prepare?.({ admin, database, url }),
    run: (row, seconds) => runRound(row, product, { ...measuring, seconds }),
  };
}
