import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Answer, Client } from '../../harness/clients/client.ts';
import { at } from '../../harness/json.ts';
import type { Replicas } from './start-replicas.ts';

const post = (client: Client, key: string): Promise<Answer> =>
  client.send('POST', '/api/v1/orders', { body: {}, headers: { 'X-Service-Idempotency-Key': key } });

const countOrders = async (client: Client): Promise<unknown> =>
  at((await client.get('/api/v1/orders')).json, 'totalItems');

/** Replicas share idempotency keys. */
export async function idempotency(t: TestContext, { first, second }: Replicas): Promise<void> {
  const root = await first.admin();
  await root.post('/api/v1/collections', { name: 'orders', type: 'base', fields: [] });

  await t.test("one replica's answer is repeated by the other", async () => {
    const key = randomUUID();
    const answer = await post(first.guest, key);
    const again = await post(second.guest, key);
    assert.deepEqual([answer.status, again.status, again.headers['idempotency-replayed']], [201, 201, 'true']);
    assert.equal(again.text, answer.text);
  });

  await t.test('among many parallel requests to both, one takes effect', async () => {
    const key = randomUUID();
    const before = Number(await countOrders(first.guest));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post((index % 2 === 0 ? first : second).guest, key)),
    );
    const made = answers.filter(
      ({ status, headers }) => status === 201 && headers['idempotency-replayed'] === undefined,
    );
    assert.equal(made.length, 1);
    assert.equal(await countOrders(second.guest), before + 1);
  });
}
