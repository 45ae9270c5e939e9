import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { at } from '../harness/json.ts';
import { endChild } from '../harness/processes/child.ts';
import { runCli } from '../harness/processes/cli.ts';
import { createDataDirectory, readiness, startProduct } from '../harness/stacks/stack.ts';

const password = 'correct horse battery staple';

suite('commands on a data directory with embedded servers', async () => {
  const dataDirectory = createDataDirectory();
  after(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const environment = { SERVICE_DATA_DIR: dataDirectory };
  const cli = (args: readonly string[], input = '') => runCli(args, { environment, input });
  const verdicts = (json: unknown) => JSON.stringify(at(json, 'findings'));

  await test('a directory without data is refused', async () => {
    const refused = await cli(['admin', 'create', 'ada@example.com', '--password-stdin'], password);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /There is no data in/);
  });

  await test("commands use a running stack's servers", async () => {
    const product = startProduct('one', environment);
    after(() => endChild(product));
    const { url } = await readiness(product);
    const made = await cli(['admin', 'create', 'ada@example.com', '--password-stdin'], password);
    assert.equal(made.code, 0, made.stderr);
    const credentials = { email: 'ada@example.com', password };
    assert.equal((await createClient(url).send('POST', '/api/v1/admin/login', { body: credentials })).status, 200);
    const found = await cli(['doctor', '--json']);
    assert.equal(found.code, 0, found.stdout + found.stderr);
    assert.match(verdicts(found.json), /"NATS","verdict":"ok"/);
    await endChild(product);
  });

  await test('without a running stack a command starts and stops the servers, and a concurrent one is refused', async () => {
    const reset = () => cli(['admin', 'reset', 'ada@example.com', '--password-stdin'], `${password} 2`);
    const results = await Promise.all([reset(), reset()]);
    const codes = results.map(({ code }) => code).sort();
    assert.ok(codes[0] === 0, results.map(({ stderr }) => stderr).join('\n'));
    for (const { code, stderr } of results)
      if (code !== 0) assert.match(stderr, /The command admin reset \(process \d+\) is working/);
    const found = await cli(['doctor', '--json']);
    assert.equal(found.code, 0, found.stdout + found.stderr);
    assert.match(verdicts(found.json), /"NATS","verdict":"ok"/);
    const product = startProduct('one', environment);
    after(() => endChild(product));
    const { url } = await readiness(product);
    const credentials = { email: 'ada@example.com', password: `${password} 2` };
    assert.equal((await createClient(url).send('POST', '/api/v1/admin/login', { body: credentials })).status, 200);
    await endChild(product);
  });
});
