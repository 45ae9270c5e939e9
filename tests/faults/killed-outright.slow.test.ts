import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { endChild } from '../harness/processes/child.ts';
import { findFreePort } from '../harness/processes/free-port.ts';
import { listDescendants } from '../harness/processes/processes.ts';
import { createDataDirectory, readiness, startProduct } from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';

/** A start with processes takes five times as long. */
const rounds = { one: 3, processes: 2 };

for (const topology of topologiesOrInCi('one')) {
  test(`a stack that is killed with all its servers starts again immediately, several times (${topology}) [docs/reliability]`, async (t) => {
    await using tidying = new AsyncDisposableStack();
    const dataDirectory = createDataDirectory();
    tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const port = String(await findFreePort());
    const start = () => startProduct(topology, { SERVICE_DATA_DIR: dataDirectory, SERVICE_PORT: port });
    let product = start();
    tidying.defer(async () => {
      await endChild(product);
    });
    await readiness(product);
    for (let round = 1; round <= rounds[topology]; round += 1) {
      const killed = [product.pid, ...listDescendants(product.pid).map(({ pid }) => pid)];
      for (const pid of killed) kill(pid);
      product = start();
      const { url } = await readiness(product);
      assert.equal((await createClient(url).send('GET', '/readyz')).status, 200, `round ${round}`);
    }
    await t.test('even when only the stack is killed and its servers still run', async () => {
      kill(product.pid);
      product = start();
      await readiness(product);
    });
  });
}

/** A process may already have ended with its parent. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}
