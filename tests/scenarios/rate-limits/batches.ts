import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt } from '../../harness/json.ts';
import { type LimitedStack, newAddress, type Rule } from './limited-stack.ts';

/** Batches count their operations. */
export async function batches(t: TestContext, stack: LimitedStack): Promise<void> {
  const { admin, setRules, call } = stack;
  const create = { op: 'create', collection: 'notes', data: { n: 1 } };
  const upsert = { op: 'upsert', collection: 'notes', id: 'upserted', data: { n: 1 } };
  const send = (from: string, operations: readonly unknown[]) =>
    call({ method: 'POST', path: '/api/v1/batch', body: { operations }, from });
  const creates = (count: number) => Array<unknown>(count).fill(create);
  const limitsOf = ({ status, headers }: Awaited<ReturnType<typeof send>>) => [
    status,
    headers['ratelimit-limit'],
    headers['ratelimit-remaining'],
  ];

  /** Sets the rules, and waits until the first one counts batches. */
  async function limit(...rules: readonly Rule[]): Promise<void> {
    await setRules(rules);
    await eventually('the records service has the rules', async () => {
      const { headers } = await send(newAddress(), [create]);
      return headers['ratelimit-limit'] === String(rules[0]?.max);
    });
  }

  await t.test('each operation counts as the single write [batch §1.4]', async () => {
    await limit({ label: '/api/v1/notes:create', max: 30, windowMs: 60_000 });
    const from = newAddress();
    assert.deepEqual(limitsOf(await send(from, creates(20))), [200, '30', '10']);
    const single = await call({ method: 'POST', path: '/api/v1/notes', body: { n: 1 }, from });
    assert.deepEqual([single.status, single.headers['ratelimit-remaining']], [201, '9']);
    assert.deepEqual(limitsOf(await send(from, creates(8))), [200, '30', '1']);
  });

  await t.test('a batch over a limit is 429, does nothing, and counts nothing [batch §1.4]', async () => {
    const from = newAddress();
    assert.equal((await send(from, creates(25))).status, 200);
    const total = async () => at((await admin.get('/api/v1/notes')).json, 'totalItems');
    const before = await total();
    const over = await send(from, [{ op: 'delete', collection: 'notes', id: 'nowhere' }, ...creates(6)]);
    assert.deepEqual(limitsOf(over), [429, '30', '5']);
    assert.deepEqual([at(over.json, 'code'), at(over.json, 'details')], ['rate_limited', { index: 6 }]);
    assert.ok(Number(over.headers['retry-after']) > 0);
    assert.equal(await total(), before);
    assert.equal((await send(from, creates(5))).status, 200);
    assert.equal((await send(from, [])).status, 200);
  });

  await t.test('an upsert counts as an update and as a create [batch §1.4]', async () => {
    await limit({ label: '*:create', max: 3, windowMs: 60_000 }, { label: '*:update', max: 5, windowMs: 60_000 });
    const from = newAddress();
    assert.equal((await send(from, Array(3).fill(upsert))).status, 200);
    assert.equal((await send(from, [upsert])).status, 429);
    const update = { op: 'update', collection: 'notes', id: 'upserted', data: { n: 2 } };
    // The refused upsert did not count against the update limit.
    assert.equal((await send(from, [update, update])).status, 200);
    const over = await send(from, [update]);
    assert.deepEqual([over.status, at(over.json, 'details.index')], [429, 0]);
  });

  await t.test('the request counts as the first operation under its rule [batch §1.4]', async () => {
    await limit({ label: '*', max: 6, windowMs: 60_000 });
    const from = newAddress();
    const exact = await send(from, creates(6));
    assert.deepEqual([exact.status, listAt(exact.json, 'data').length], [200, 6]);
    assert.equal((await send(from, [])).status, 429);
    assert.equal((await send(newAddress(), creates(7))).status, 429);
  });
}
