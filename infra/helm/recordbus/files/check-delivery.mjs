// The second half of `helm test`: writes a record through the gateway, and waits for its delivery to its own receiver.
// It is safe on a deployment in use: it creates a key, a collection and a webhook, and removes them.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';

const [gatewayUrl, address = ownAddress()] = process.argv.slice(2);
const run = promisify(execFile);
const cli = (...args) => run(process.execPath, ['infra/cli/src/main.ts', ...args], { env: process.env });

/** How long a delivery may take, in milliseconds. */
const patienceMs = 60_000;
const setting = 'hooks.http.allow';
const collection = `helm_test_${Date.now().toString(36)}`;

const undo = [];
const outcome = await check().then(
  () => 0,
  (error) => {
    process.stderr.write(`${error.stack}\n`);
    return 1;
  },
);
for (const step of undo.reverse())
  await step().catch((error) => process.stderr.write(`cannot remove the test's parts: ${error.message}\n`));
process.exit(outcome);

async function check() {
  const { stdout: key } = await cli('keys', 'create', 'helm test', '--scope', 'admin', '--expires-in', '1');
  undo.push(() => cli('keys', 'revoke', key.trim().split('_').slice(0, 2).join('_')));
  const call = caller(key.trim());

  const received = Promise.withResolvers();
  const port = await receive(received.resolve);
  const allowed = (await call('GET', '/api/v1/admin/settings'))[setting] ?? '';
  await call('PATCH', '/api/v1/admin/settings', { [setting]: [allowed, `${address}/32`].filter(Boolean).join(',') });
  undo.push(() => call('PATCH', '/api/v1/admin/settings', { [setting]: allowed }));
  await call('POST', '/api/v1/collections', {
    name: collection,
    type: 'base',
    fields: [{ name: 'value', type: 'number' }],
  });
  undo.push(() => call('DELETE', `/api/v1/collections/${collection}`));
  const webhook = await call('POST', '/api/v1/admin/webhooks', {
    name: collection,
    url: `http://${address}:${port}/`,
    events: [`${collection}.create`],
  });
  undo.push(() => call('DELETE', `/api/v1/admin/webhooks/${webhook.id}`));

  const begunAtMs = performance.now();
  const { id } = await call('POST', `/api/v1/${collection}`, { value: 1 });
  const body = await Promise.race([
    received.promise,
    new Promise((_, reject) => setTimeout(() => reject(new Error(`no delivery within ${patienceMs} ms`)), patienceMs)),
  ]);
  if (body.data?.record?.id !== id) throw new Error(`the delivery has another record: ${JSON.stringify(body)}`);
  process.stdout.write(`A record was written and delivered within ${Math.round(performance.now() - begunAtMs)} ms.\n`);
}

/** Returns a function that sends a request and returns the answer's `data`. */
function caller(key) {
  return async (method, path, body) => {
    const answer = await fetch(`${gatewayUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was ${answer.status}: ${text}`);
    return JSON.parse(text).data;
  };
}

/** Starts the receiver, which passes on the first body. Returns its port. */
async function receive(take) {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    response.end();
    take(JSON.parse(text));
  });
  await new Promise((resolve) => server.listen(0, '0.0.0.0', resolve));
  return server.address().port;
}

/** The address at which the services reach this pod. */
function ownAddress() {
  const found = Object.values(networkInterfaces())
    .flat()
    .find(({ family, internal }) => family === 'IPv4' && !internal);
  return found?.address ?? '127.0.0.1';
}
