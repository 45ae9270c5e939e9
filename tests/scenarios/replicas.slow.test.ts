import { test } from 'node:test';
import { topologies } from '../harness/target.ts';
import { asOne } from './replicas/as-one.ts';
import { files } from './replicas/files.ts';
import { idempotency } from './replicas/idempotency.ts';
import { revocation } from './replicas/revocation.ts';
import { schemaChanges } from './replicas/schema-changes.ts';
import { startReplicas } from './replicas/start-replicas.ts';

for (const topology of topologies)
  test(`two replicas of every service (${topology})`, async (t) => {
    await using replicas = await startReplicas(topology);
    await t.test('behave as one [docs/architecture]', (part) => asOne(part, replicas));
    await t.test('follow a change of the schema whole [contract §8]', (part) => schemaChanges(part, replicas));
    await t.test('share files [contract §3]', (part) => files(part, replicas));
    await t.test('do what has an idempotency key once [contract §1]', (part) => idempotency(part, replicas));
    // The bus is away meanwhile, which is logged.
    await t.test('end what ends on one of them [contract §4]', (part) => revocation(part, replicas));
  });
