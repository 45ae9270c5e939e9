import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { numberAt } from '../../harness/json.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { countsOf, imported, linesOf, recordsOf, refusedRows } from '../import-jobs.ts';

/** Imports into the extension `shop`'s collections. */
export async function importHooks(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const number = (name: string) => ({ name, type: 'number' });
  const text = (name: string) => ({ name, type: 'text' });
  await admin.define('shop_orders', [text('code'), text('item'), number('amount'), number('price'), text('note')]);
  await admin.define('shop_stock', [text('item'), number('left'), number('price')]);
  t.after(async () => {
    for (const name of ['shop_orders', 'shop_stock']) await admin.delete(`/api/v1/collections/${name}`);
  });
  const { id } = await admin.create('shop_stock', { item: 'tea', left: 10, price: 3 });
  const left = async () => numberAt((await admin.get(`/api/v1/shop_stock/${id}`)).json, 'data.left');
  const row = (code: string, more: object = {}) => ({ code, item: 'tea', amount: 1, ...more });
  const body = linesOf([
    row('in', { amount: 9 }),
    row('coffee', { item: 'coffee' }),
    row('unlucky', { amount: 13 }),
    row('too much', { amount: 2 }),
    row('late', { note: 'fails after the stock' }),
    row('last'),
  ]);

  await t.test('do not run in a dry run [import §4.5]', async () => {
    const job = await imported(admin, 'shop_orders', { format: 'ndjson', dry_run: '1' }, body);
    assert.deepEqual(countsOf(job), { total: 6, read: 6, done: 6 });
    assert.equal(await left(), 10);
  });

  await t.test('run for each row, and see what earlier rows wrote [import §4.1]', async () => {
    const job = await imported(admin, 'shop_orders', { format: 'ndjson' }, body);
    assert.deepEqual(countsOf(job), { total: 6, read: 6, done: 2, refused: 4 });
    const reasons = (await refusedRows(admin, job))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)._refused);
    assert.deepEqual(reasons, [
      { item: 'is not sold here' },
      { amount: 'is unlucky at create' },
      { left: 'is not enough' },
      { _row: 'out of luck' },
    ]);
    assert.equal(await left(), 0);
    assert.deepEqual(await recordsOf(admin, 'shop_orders', 'code'), [{ code: 'IN' }, { code: 'LAST' }]);
  });
}
