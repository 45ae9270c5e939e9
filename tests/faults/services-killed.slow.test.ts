import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWebhook } from '../harness/clients/webhook.ts';
import { everyRecordArrives, writeBurst } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { type ServiceName, type Stack, startStack } from '../harness/stacks/stack.ts';

/** More than the deliveries that a process has in progress when it dies. */
const maxInProgress = 200;

test('committed writes are delivered while each service is killed under load [docs/reliability]', async () => {
  await using stack = await startStack({ topology: 'processes' });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'parcels', type: 'base', fields: [] });
  await createWebhook(admin, receiver.url, ['parcels.*']);
  // The services behind the gateway are killed first, so that there is load while they die; the writers are awaited.
  const victims: ServiceName[] = ['webhooks', 'realtime', 'admin', 'auth', 'records', 'gateway'];
  const before = pidsOf(stack);
  const runsAgain = (name: ServiceName) => eventually(`${name} runs again`, () => pidsOf(stack)[name] !== before[name]);
  for (const name of victims) {
    await writeBurst({
      url: stack.url,
      collection: 'parcels',
      count: 200,
      onAnswered(answered) {
        if (answered === 100) process.kill(before[name] ?? 0, 'SIGKILL');
      },
    });
    if (name === 'records') await runsAgain(name);
  }
  await Promise.all(victims.map(runsAgain));
  await hasRecovered(stack);
  const repeated = await everyRecordArrives(admin, receiver, 'parcels');
  assert.ok(repeated.length <= maxInProgress, `${repeated.length} were delivered again`);
});

const pidsOf = ({ services }: Stack): Partial<Record<ServiceName, number>> =>
  Object.fromEntries(Object.entries(services).map(([name, { pid }]) => [name, pid]));

const hasRecovered = ({ guest }: Stack) =>
  eventually('records are read again', async () => (await guest.get('/api/v1/parcels?perPage=1')).status === 200);
