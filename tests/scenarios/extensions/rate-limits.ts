import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at } from '../../harness/json.ts';
import type { Target } from '../../harness/stacks/target.ts';

const hourMs = 3_600_000;

/** A rate limit matches an extension's route by its path, a path above it, or its action. */
export async function rateLimits(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const applySettings = async (settings: object, limit: string | undefined) => {
    await admin.patch('/api/v1/admin/settings', settings);
    await eventually('the gateway has the rules', async () => {
      const { headers } = await target.guest.get('/api/v1/health');
      return headers['ratelimit-limit'] === limit;
    });
  };
  const rules = [
    { label: '/api/v1/health', max: 1_234_567 },
    { label: '/api/x/shop/nothing', max: 1 },
    { label: '/api/x/*', max: 2 },
    { label: '/api/x/*:create', max: 3 },
  ].map((rule) => ({ windowMs: hourMs, ...rule }));
  await applySettings({ 'rate_limit.enabled': '1', 'rate_limit.rules': JSON.stringify(rules) }, '1234567');

  for (const [label, max, method, path] of [
    ['its path', 1, 'GET', '/api/x/shop/nothing'],
    ['a path above it', 2, 'GET', '/api/x/shop/as/admin'],
    ['its action', 3, 'POST', '/api/x/shop/quotes/tea'],
  ] as const)
    await t.test(`a route is counted by ${label} [extensions §4.1]`, async () => {
      const send = () => target.guest.send(method, path, method === 'POST' ? { body: { amount: 1 } } : {});
      for (let turn = 1; turn <= max; turn += 1) {
        const { status, headers, text } = await send();
        assert.equal(status, 200, text);
        assert.equal(headers['ratelimit-limit'], String(max));
      }
      const refusal = await send();
      assert.deepEqual([refusal.status, at(refusal.json, 'code')], [429, 'rate_limited']);
      assert.ok(Number(refusal.headers['retry-after']) > 0);
    });
  await applySettings({ 'rate_limit.enabled': '0', 'rate_limit.rules': '' }, undefined);
}
