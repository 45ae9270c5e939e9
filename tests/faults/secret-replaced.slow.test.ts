import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { textAt } from '../harness/json.ts';
import { createGround, firstAdmin, startStack } from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';

const password = 'a long and winding password';

for (const topology of topologiesOrInCi('one')) {
  test(`a new secret in the file ends every token (${topology}) [auth §8.3]`, async () => {
    await using ground = await createGround();
    // The secret is in the file unless the variable is set.
    const environment = { SERVICE_JWT_SECRET: '' };
    const file = join(ground.dataDirectory, 'jwt_secret');
    const tokens: string[] = [];
    {
      await using stack = await startStack({ topology, ground, environment });
      const admin = await stack.admin();
      await admin.post('/api/v1/collections', { name: 'readers', type: 'auth' });
      const user = await stack.guest.post('/api/v1/auth/readers/register', { email: 'ann@example.com', password });
      tokens.push(
        textAt(user, 'token'),
        textAt(await stack.guest.post('/api/v1/admin/login', firstAdmin, 200), 'token'),
      );
    }
    assert.ok(readFileSync(file, 'utf8').trim().length >= 32);
    writeFileSync(file, 'y'.repeat(48));
    await using stack = await startStack({ topology, ground, environment });
    for (const token of tokens) {
      const refresh = await createClient(stack.url, token).send('POST', '/api/v1/auth/refresh', { body: {} });
      assert.equal(refresh.status, 401);
    }
    const login = { email: 'ann@example.com', password };
    assert.equal((await stack.guest.send('POST', '/api/v1/auth/readers/login', { body: login })).status, 200);
  });
}
