import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { makeKey } from '../service-keys.ts';
import type { Replicas } from './start-replicas.ts';

const path = '/api/v1/collections';

/** A new key works on the other replica at once, and a changed or revoked key soon. */
export async function serviceKeys(t: TestContext, { first, second }: Replicas): Promise<void> {
  const admin = await first.admin();
  const there = (key: string) => createClient(second.url, key).get(path);

  await t.test('a new key works on the other replica at once [keys §1.6]', async () => {
    for (let n = 0; n < 5; n += 1) {
      await there(`rbk_aaaaaaaaaaaaaaaa_${'a'.repeat(43)}`);
      const { key } = await makeKey(first, ['collections:read']);
      assert.equal((await there(key)).status, 200);
    }
  });

  await t.test('a narrowed and a revoked key take effect there [keys §1.6]', async () => {
    const { id, key } = await makeKey(first, ['collections:read']);
    assert.equal((await there(key)).status, 200);
    await admin.patch(`/api/v1/admin/keys/${id}`, { scopes: ['files'] });
    await eventually('it has no scope', async () => (await there(key)).status === 403);
    await admin.delete(`/api/v1/admin/keys/${id}`);
    await eventually('it is refused', async () => (await there(key)).status === 401);
  });
}
