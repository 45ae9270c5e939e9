import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { endChild } from '../harness/processes/child.ts';
import { listDescendants, stillRunning } from '../harness/processes/processes.ts';
import { createDataDirectory, readiness, startProduct } from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';

const servers = { PostgreSQL: /bin\/postgres .*-D|\/postgres -D/, NATS: /nats-server/ };

for (const topology of topologiesOrInCi('processes')) {
  for (const [name, command] of Object.entries(servers)) {
    test(`a stack reports when the embedded ${name} crashes, and exits with a failure (${topology}) [docs/reliability]`, async () => {
      await using tidying = new AsyncDisposableStack();
      const dataDirectory = createDataDirectory();
      tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
      const product = startProduct(topology, { SERVICE_DATA_DIR: dataDirectory });
      tidying.defer(async () => {
        await endChild(product);
      });
      await readiness(product);
      const started = listDescendants(product.pid);
      const server = started.find((process) => command.test(process.command));
      assert.ok(server, started.map((process) => process.command).join('\n'));

      process.kill(server.pid, 'SIGKILL');
      const { code, signal } = await product.exited;
      assert.equal(signal, null);
      assert.notEqual(code, 0);
      assert.ok(
        product.lines.some((line) => line.startsWith(`${name} was ended by SIGKILL.`)),
        product.lines.slice(-20).join('\n'),
      );
      await eventually('no process remains', () => stillRunning(started).length === 0);
    });
  }
}
