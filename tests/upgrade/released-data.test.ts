import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { endChild } from '../harness/processes/child.ts';
import { runCli } from '../harness/processes/cli.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { readiness, startProduct } from '../harness/stacks/stack.ts';
import { released } from './check-out.ts';
import { unpackFixture } from './fixture.ts';
import { checkDeployment } from './small-deployment.ts';

test("the last release's data directory has everything after the upgrade [operation §4.6]", async (t) => {
  const { dataDirectory, marks } = unpackFixture();
  t.after(() => rmSync(dataDirectory, { recursive: true, force: true }));
  assert.equal(marks.version, released.version, 'npm run release -- fixture writes the next one');
  await using receiver = await startReceiver();
  const environment = { SERVICE_DATA_DIR: dataDirectory };
  const product = startProduct('one', environment);
  try {
    const { url } = await readiness(product);
    await checkDeployment(url, marks, receiver);
    const doctor = await runCli(['doctor', '--json'], { environment });
    assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
  } finally {
    await endChild(product);
  }
});
