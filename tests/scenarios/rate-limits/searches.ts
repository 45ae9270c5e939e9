import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at } from '../../harness/json.ts';
import { type LimitedStack, newAddress } from './limited-stack.ts';

/** A search in several collections counts its queries. */
export async function searches(t: TestContext, { setRules, call }: LimitedStack): Promise<void> {
  const send = (from: string, count: number) => {
    const queries = Array.from({ length: count }, () => ({ collection: 'notes', search: 'sea' }));
    return call({ method: 'POST', path: '/api/v1/search', body: { queries }, from });
  };
  const limitsOf = ({ status, headers }: Awaited<ReturnType<typeof send>>) => [
    status,
    headers['ratelimit-limit'],
    headers['ratelimit-remaining'],
  ];
  await setRules([{ label: '/api/v1/notes:list', max: 30, windowMs: 60_000 }]);
  await eventually('the records service has the rule', async () => {
    const { headers } = await send(newAddress(), 1);
    return headers['ratelimit-limit'] === '30';
  });

  await t.test('each query counts as the list [search §6.3]', async () => {
    const from = newAddress();
    assert.deepEqual(limitsOf(await send(from, 10)), [200, '30', '20']);
    const list = await call({ path: '/api/v1/notes', from });
    assert.deepEqual([list.status, list.headers['ratelimit-remaining']], [200, '19']);
    assert.deepEqual(limitsOf(await send(from, 10)), [200, '30', '9']);
    const refused = await send(from, 10);
    assert.deepEqual([...limitsOf(refused), at(refused.json, 'details.index')], [429, '30', '9', 9]);
    assert.deepEqual(limitsOf(await send(from, 9)), [200, '30', '0']);
  });
}
