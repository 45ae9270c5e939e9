import { test } from 'node:test';
import { topologiesOrInCi } from '../harness/stacks/target.ts';
import { asOne } from './replicas/as-one.ts';
import { files } from './replicas/files.ts';
import { idempotency } from './replicas/idempotency.ts';
import { longReads } from './replicas/long-reads.ts';
import { revocation } from './replicas/revocation.ts';
import { schemaChanges } from './replicas/schema-changes.ts';
import { serviceKeys } from './replicas/service-keys.ts';
import { startReplicas } from './replicas/start-replicas.ts';

for (const topology of topologiesOrInCi('one'))
  test(`two replicas of every service (${topology})`, async (t) => {
    await using replicas = await startReplicas(topology);
    await t.test('behave as one [events §3, records §9.1]', (part) => asOne(part, replicas));
    await t.test('follow each schema change as a whole [collections §9.2]', (part) => schemaChanges(part, replicas));
    await t.test('share files [files §1.1]', (part) => files(part, replicas));
    await t.test('perform a request with an idempotency key once [http §7.2]', (part) => idempotency(part, replicas));
    await t.test('allow a client four long reads at once [cost §1.2]', (part) => longReads(part, replicas));
    await t.test('know the same service keys [keys §1.6]', (part) => serviceKeys(part, replicas));
    // The bus is stopped meanwhile, which is logged.
    await t.test('end a session everywhere [auth §8.7]', (part) => revocation(part, replicas));
  });
