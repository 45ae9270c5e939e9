import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { numberAt } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';

const spec = 'extensions §2.2';
const name = (field: string) => ({ name: field, type: 'text' });

export async function beforeHooks(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const number = (field: string) => ({ name: field, type: 'number' });
  await admin.post('/api/v1/collections', {
    name: 'shop_orders',
    type: 'base',
    fields: [{ ...name('code'), required: true }, name('item'), number('amount'), number('price'), name('note')],
    update_rule: '@request.query.word = "please"',
  });
  await admin.post('/api/v1/collections', {
    name: 'shop_stock',
    type: 'base',
    fields: [{ ...name('item'), options: { unique: true } }, number('left'), number('price')],
  });
  const tea = await admin.create('shop_stock', { item: 'tea', left: 10, price: 3 });
  const final = await admin.create('shop_orders', { code: 'final', item: 'tea', amount: 1 });
  const keep = await admin.create('shop_orders', { code: 'keep', item: 'tea', amount: 1 });
  const open = await admin.create('shop_orders', { code: 'open', item: 'tea', amount: 1 });
  const left = async () => numberAt((await admin.get(`/api/v1/shop_stock/${tea.id}`)).json, 'data.left');
  const create = (
    label: string,
    body: object,
    expect: Scenario['expect'],
    events: Scenario['events'] = [],
  ): Scenario => ({
    name: label,
    request: 'POST /api/v1/shop_orders',
    body: { code: 'a', item: 'tea', amount: 1, ...body },
    expect,
    events,
    spec,
  });
  const order = (members: Readonly<Record<string, unknown>>) => ({ data: is.containing(members) });
  assert.equal(await left(), 7);
  await runScenarios(t, target, [
    create(
      'change the values and write other records in the same transaction',
      { amount: 2 },
      { status: 201, json: order({ code: 'A', amount: 2, price: 6 }) },
      ['shop_orders.create', 'shop_stock.update'],
    ),
    create('refuse with messages for fields', { amount: 13 }, { ...refused.invalid('amount') }),
    create('refuse after a read of another record', { item: 'coffee' }, refused.invalid('item')),
    create('run for the records that they write, and may refuse those', { amount: 100 }, refused.invalid('left')),
    create('roll back everything when they refuse after a write', { note: 'fails after the stock' }, refused.conflict),
    create('do not run for an invalid body', { amount: 'many' }, refused.invalid('amount')),
    create('refuse for every collection', { note: 'from nobody' }, refused.forbidden),
    create(
      'catch the refusal of their own write',
      { note: 'catches' },
      { status: 201, json: order({ note: 'catches' }) },
      ['shop_orders.create', 'shop_stock.update'],
    ),
    {
      name: 'receive the stored record of an update',
      as: 'admin',
      request: `PATCH /api/v1/shop_orders/${open.id}`,
      body: { amount: 5 },
      expect: { status: 200, json: order({ code: 'OPEN', amount: 5, note: 'was OPEN' }) },
      events: ['shop_orders.update'],
      spec,
    },
    {
      name: 'run after the rule',
      request: `PATCH /api/v1/shop_orders/${final.id}`,
      body: { amount: 5 },
      expect: refused.forbidden,
      spec,
    },
    {
      name: 'refuse an update',
      request: `PATCH /api/v1/shop_orders/${final.id}?word=please`,
      body: { amount: 5 },
      expect: refused.conflict,
      spec,
    },
    {
      name: 'run after If-Match',
      as: 'admin',
      request: `PATCH /api/v1/shop_orders/${final.id}`,
      headers: { 'If-Match': 'W/"1"' },
      body: { amount: 5 },
      expect: { status: 412 },
      spec,
    },
    {
      name: 'refuse a delete',
      request: `DELETE /api/v1/shop_orders/${keep.id}`,
      expect: refused.conflict,
      spec,
    },
    {
      name: 'allow a delete',
      request: `DELETE /api/v1/shop_orders/${open.id}`,
      expect: { status: 200, json: { data: null } },
      events: ['shop_orders.delete'],
      spec,
    },
    {
      name: 'do not run for an unknown record',
      request: `DELETE /api/v1/shop_orders/${open.id}`,
      expect: refused.notFound,
      spec,
    },
  ]);
  assert.equal(await left(), 4);
  await t.test('run once for an idempotency key', async () => {
    const send = () =>
      target.guest.send('POST', '/api/v1/shop_orders', {
        headers: { 'X-Service-Idempotency-Key': 'once' },
        body: { code: 'once', item: 'tea', amount: 1 },
      });
    assert.equal((await send()).status, 201);
    assert.equal((await send()).headers['idempotency-replayed'], 'true');
    assert.equal(await left(), 3);
  });
  await t.test('see what the previous parallel write left', async () => {
    const body = { code: 'race', item: 'tea', amount: 1 };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => target.guest.send('POST', '/api/v1/shop_orders', { body })),
    );
    const made = answers.filter(({ status }) => status === 201).length;
    assert.equal(await left(), 3 - made);
  });
  for (const collection of ['shop_orders', 'shop_stock']) await admin.delete(`/api/v1/collections/${collection}`);
}
