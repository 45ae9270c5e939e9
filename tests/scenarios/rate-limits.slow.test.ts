import { test } from 'node:test';
import { topologiesOrInCi } from '../harness/stacks/target.ts';
import { batches } from './rate-limits/batches.ts';
import { clients } from './rate-limits/clients.ts';
import { startLimitedStack } from './rate-limits/limited-stack.ts';
import { rules } from './rate-limits/rules.ts';
import { searches } from './rate-limits/searches.ts';
import { sharedLimits } from './rate-limits/shared-limits.ts';

for (const topology of topologiesOrInCi('processes'))
  test(`rate limits (${topology})`, async (t) => {
    await using stack = await startLimitedStack(topology);
    await t.test('follow the rules [http §8]', (part) => rules(part, stack));
    await t.test('count by client [http §8.7, §9]', (part) => clients(part, stack));
    await t.test("count batches' operations [batch §1.4]", (part) => batches(part, stack));
    await t.test("count searches' queries [search §6.3]", (part) => searches(part, stack));
    await t.test('are shared by all gateways [docs/gateway]', (part) => sharedLimits(part, stack));
  });
