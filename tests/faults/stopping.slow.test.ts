import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { type Child, endChild, startChild } from '../harness/processes/child.ts';
import { listDescendants, stillRunning } from '../harness/processes/processes.ts';
import { callers, createDataDirectory, readiness, repository, startProduct } from '../harness/stacks/stack.ts';
import { topologies } from '../harness/stacks/target.ts';

/** Sends half a request, so that it is in flight until the test completes it. */
function beginRequest(url: string): { finish(): Promise<IncomingMessage> } {
  const body = JSON.stringify({ title: 'in flight' });
  const outgoing = request(`${url}/api/v1/notes`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
  });
  const answered = once(outgoing, 'response').then(([response]) => response as IncomingMessage);
  answered.catch(() => {});
  outgoing.write(body.slice(0, 5));
  return {
    finish() {
      outgoing.end(body.slice(5));
      return answered;
    },
  };
}

const isRefused = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(false));
    socket.once('error', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });

for (const topology of topologies) {
  // The stack stops its processes in the same way on every signal.
  for (const signal of topology === 'one' ? (['SIGTERM', 'SIGINT'] as const) : (['SIGTERM'] as const)) {
    test(`${signal} lets requests in flight finish, leaves no process and keeps the data (${topology}) [docs/reliability]`, async () => {
      await using tidying = new AsyncDisposableStack();
      const dataDirectory = createDataDirectory();
      tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
      const start = (): Child =>
        tidying.adopt(startProduct(topology, { SERVICE_DATA_DIR: dataDirectory }), async (product) => {
          await endChild(product);
        });
      const product = start();
      const { url, setupToken } = await readiness(product);
      const admin = await callers(url, setupToken).admin();
      await admin.post('/api/v1/collections', {
        name: 'notes',
        type: 'base',
        fields: [{ name: 'title', type: 'text' }],
      });
      const kept = await admin.create('notes', { title: 'kept' });
      const processes = listDescendants(product.pid);
      assert.ok(processes.length >= 2, 'the database and the bus run');

      // An idle connection must not delay the stop.
      const idle = new Agent({ keepAlive: true });
      tidying.defer(() => idle.destroy());
      const [first] = (await once(request(`${url}/healthz`, { agent: idle }).end(), 'response')) as [IncomingMessage];
      first.resume();
      const inFlight = beginRequest(url);
      await eventually(
        'the request is in flight',
        async () => (await createClient(url).get('/healthz')).status === 200,
      );

      product.kill(signal);
      await eventually('new connections are refused', () => isRefused(url));
      const answer = await inFlight.finish();
      assert.equal(answer.statusCode, 201);
      const id = at(await json(answer), 'data.id');
      assert.deepEqual(await product.exited, { code: 0, signal: null });
      await eventually('no process remains', () => stillRunning(processes).length === 0);

      const again = await readiness(start());
      assert.equal(again.setupToken, undefined);
      for (const noteId of [kept.id, id]) {
        const read = await createClient(again.url).get(`/api/v1/notes/${noteId}`);
        assert.equal(read.status, 200, read.text);
      }
    });
  }
}

test('SIGTERM to npm stops the processes that npm start runs [docs/reliability]', async () => {
  await using tidying = new AsyncDisposableStack();
  const dataDirectory = createDataDirectory();
  tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const npm = startChild('npm', ['start'], {
    cwd: repository,
    env: { ...process.env, SERVICE_DATA_DIR: dataDirectory, SERVICE_PORT: '', SERVICE_HOST: '127.0.0.1' },
  });
  tidying.defer(async () => {
    await endChild(npm);
  });
  const url = await eventually('the address is printed', () =>
    npm.lines.map((line) => /ready at (http:\S+)/.exec(line)?.[1]).find(Boolean),
  );
  assert.equal((await createClient(url).get('/readyz')).status, 200);
  const processes = listDescendants(npm.pid);
  npm.kill('SIGTERM');
  const { code } = await npm.exited;
  assert.equal(code, 0, npm.lines.slice(-10).join('\n'));
  await eventually('no process remains', () => stillRunning(processes).length === 0);
});

for (const [name, variables, sentence] of [
  ['an invalid port', { SERVICE_PORT: 'http' }, /SERVICE_PORT/],
  ['a short secret', { SERVICE_JWT_SECRET: 'short' }, /SERVICE_JWT_SECRET/],
  ['a database URL of another protocol', { SERVICE_DATABASE_URL: 'mysql://x' }, /SERVICE_DATABASE_URL/],
  ['an unknown log level', { SERVICE_LOG_LEVEL: 'loud' }, /SERVICE_LOG_LEVEL/],
  ['an invalid address of a proxy', { SERVICE_TRUSTED_PROXIES: '10.0.0.0/99' }, /SERVICE_TRUSTED_PROXIES/],
] as const) {
  test(`${name} ends the start with a message that names the variable [operation §5.2]`, async () => {
    await using tidying = new AsyncDisposableStack();
    const dataDirectory = createDataDirectory();
    tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const product = startProduct('one', { SERVICE_DATA_DIR: dataDirectory, ...variables });
    tidying.defer(async () => {
      await endChild(product);
    });
    const { code } = await product.exited;
    assert.notEqual(code, 0);
    assert.ok(
      product.lines.some((line) => sentence.test(line) && !line.startsWith(' ')),
      product.lines.join('\n'),
    );
    assert.ok(!product.lines.some((line) => /^\s+at /.test(line)), 'no stack trace');
  });
}
