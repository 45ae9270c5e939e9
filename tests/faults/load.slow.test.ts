import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWebhook } from '../harness/clients/webhook.ts';
import { everyRecordArrives, writeBurst } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { startPostgres } from '../harness/servers/servers.ts';
import { createGround, type Stack, startStack } from '../harness/stacks/stack.ts';

/** More than the deliveries that a process has in progress when it dies. */
const maxInProgress = 200;

test('5,000 creates at full speed are each delivered once [docs/reliability]', async () => {
  await using stack = await startStack({ topology: 'one' });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'parcels', type: 'base', fields: [] });
  await createWebhook(admin, receiver.url, ['parcels.*']);
  assert.equal(await writeBurst({ url: stack.url, collection: 'parcels', count: 5000 }), 5000);
  assert.deepEqual(await everyRecordArrives(admin, receiver, 'parcels'), []);
});

test('committed writes are delivered after the database has crashed in a burst [docs/reliability]', async () => {
  await using postgres = await startPostgres();
  await using ground = await createGround({ url: postgres.url, drop: async () => {} });
  await using stack = await startStack({ topology: 'one', ground });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'parcels', type: 'base', fields: [] });
  await createWebhook(admin, receiver.url, ['parcels.*']);
  let restarting: Promise<void> | undefined;
  const created = await writeBurst({
    url: stack.url,
    collection: 'parcels',
    count: 1500,
    onAnswered(answered) {
      if (answered === 500) restarting = postgres.kill().then(() => postgres.start());
    },
  });
  await restarting;
  assert.ok(created >= 450, `${created} creates succeeded`);
  await hasRecovered(stack);
  const repeated = await everyRecordArrives(admin, receiver, 'parcels');
  assert.ok(repeated.length <= maxInProgress, `${repeated.length} were delivered again`);
});

const hasRecovered = ({ guest }: Stack) =>
  eventually('records are read again', async () => (await guest.get('/api/v1/parcels?perPage=1')).status === 200);
