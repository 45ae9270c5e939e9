import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type LimitedStack, newAddress } from './limited-stack.ts';

/** Limits over all gateways, under load and without the bus. */
export async function sharedLimits(t: TestContext, stack: LimitedStack): Promise<void> {
  const { ground, setRules, countAllowed } = stack;

  await t.test('a sign-in limit is exact under parallel load [docs/gateway]', async () => {
    await setRules([{ label: '*:auth', max: 25 }]);
    const login = { method: 'POST', path: '/api/v1/auth/people/login', from: newAddress(), body: {} };
    assert.equal(await countAllowed(120, login), 25);
  });

  await t.test('other limits are never exceeded, and at least 90% of them is allowed [docs/gateway]', async () => {
    await setRules([{ label: '/api/v1/notes', max: 100 }]);
    const allowed = await countAllowed(250, { path: '/api/v1/notes', from: newAddress() });
    assert.ok(allowed >= 90 && allowed <= 100, `${allowed} of 100`);
  });

  await t.test('health checks are not limited [docs/gateway]', async () => {
    await setRules([{ label: '*', max: 1, audience: 'guest' }]);
    for (const path of ['/healthz', '/readyz'])
      assert.equal(await countAllowed(5, { path, from: '192.0.2.99' }), 5, path);
  });

  await t.test('limits hold while the bus is down [docs/gateway]', async () => {
    await setRules([
      { label: '*:auth', max: 10 },
      { label: '/api/v1/notes', max: 40 },
    ]);
    await ground.bus.kill();
    const login = { method: 'POST', path: '/api/v1/auth/people/login', from: newAddress(), body: {} };
    assert.equal(await countAllowed(40, login), 10);
    const allowed = await countAllowed(100, { path: '/api/v1/notes', from: newAddress() });
    assert.ok(allowed >= 36 && allowed <= 40, `${allowed} of 40`);
    await ground.bus.start();
  });
}
