import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { createClient } from '../harness/clients/client.ts';
import { createWebhook } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';

const records = 10;
const writesPerRecord = 5;

/** Creates a directory with an extension that has one route. `replace` replaces the route. */
function createExtensions() {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-extensions-'));
  const write = (name: string) =>
    writeFileSync(
      join(directory, `${name}.ts`),
      `export const extension = { routes: [{ method: 'GET', path: '/${name}', access: 'public', handler: () => '${name}' }] };`,
    );
  write('older');
  return {
    directory,
    replace() {
      rmSync(join(directory, 'older.ts'));
      write('newer');
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

for (const topology of topologiesOrInCi('processes')) {
  test(`while the bus is down no write waits, and no event is lost (${topology})`, async (t) => {
    using extensions = createExtensions();
    await using ground = await createGround();
    const environment = { SERVICE_EXTENSIONS_DIR: extensions.directory };
    await using stack = await startStack({ topology, ground, environment });
    await using receiver = await startReceiver();
    const admin = await stack.admin();
    await admin.post('/api/v1/collections', {
      name: 'meters',
      type: 'base',
      fields: [{ name: 'value', type: 'number' }],
    });
    await createWebhook(admin, receiver.url, ['meters.*']);
    const first = await admin.create('meters', { value: -1 });
    await receiver.received(1);

    const statusOf = async (path: string) => (await stack.guest.get(`/api/x/${path}`)).status;
    assert.deepEqual([await statusOf('older'), await statusOf('newer')], [200, 404]);

    await ground.bus.kill();
    extensions.replace();
    await t.test('writes succeed while it is down [events §3.4]', async () => {
      await Promise.all(
        Array.from({ length: records }, async () => {
          const { id } = await stack.guest.create('meters', { value: 0 });
          for (let value = 1; value < writesPerRecord; value += 1)
            await stack.guest.patch(`/api/v1/meters/${id}`, { value });
        }),
      );
    });

    await t.test('readiness reports it; services that can work without it stay ready [operation §1.2]', async () => {
      const gateway = await stack.guest.get('/readyz');
      assert.equal(textAt(gateway.json, 'data.checks.webhooks'), 'failing');
      assert.match(textAt((await admin.get('/readyz')).json, 'data.checks.webhooks'), /bus/);
      assert.equal(gateway.status, 200, gateway.text);
      const { webhooks, records } = stack.services;
      if (webhooks) assert.equal((await createClient(webhooks.url).get('/readyz')).status, 503);
      if (records) assert.equal((await createClient(records.url).get('/readyz')).status, 200);
    });

    await t.test('changed settings take effect without it [settings §2]', async () => {
      await admin.patch('/api/v1/admin/settings', { 'metrics.enabled': '1' });
      await eventually(
        'the gateway has the setting',
        async () => (await stack.guest.get('/api/v1/metrics')).status === 200,
      );
    });

    await t.test('new and removed extension routes take effect without it [docs/extensions]', async () => {
      await eventually(
        'the gateway has the new routes',
        async () => (await statusOf('newer')) === 200 && (await statusOf('older')) === 404,
        // It polls every 15 s, and the service may have been reading the directory.
        { timeoutMs: 120_000 },
      );
    });

    await ground.bus.start();
    await using after = await openBusReader(stack.natsUrl);
    await t.test('every event arrives after its return, in order for each record [events §3.1, §3.2]', async () => {
      const valuesOf = () => {
        const values = new Map<string, number[]>();
        const seen = new Set<unknown>();
        for (const { body } of after.events) {
          // Delivery is at least once: an event may arrive twice, with the same id.
          if (seen.has(body.id)) continue;
          seen.add(body.id);
          const id = textAt(body, 'data.record.id');
          values.set(id, [...(values.get(id) ?? []), Number(at(body, 'data.record.value'))]);
        }
        return values;
      };
      const total = 1 + records * writesPerRecord;
      await eventually(`${total} events`, () => {
        const count = [...valuesOf().values()].flat().length;
        if (count < total) throw new Error(`${count} so far`);
        return true;
      });
      const { [first.id]: firstValues, ...others } = Object.fromEntries(valuesOf());
      assert.deepEqual(firstValues, [-1]);
      const inOrder = Array.from({ length: writesPerRecord }, (_, value) => value);
      assert.deepEqual(Object.values(others), Array(records).fill(inOrder));
    });

    await t.test('every event is delivered [docs/reliability]', async () => {
      const total = 1 + records * writesPerRecord;
      await eventually(`${total} events at the receiver`, () => {
        const ids = new Set(receiver.deliveries.map(({ json }) => json.id));
        if (ids.size < total) throw new Error(`${ids.size} so far`);
        return true;
      });
    });
  });
}

test('a stack starts without its bus and connects when the bus starts', async () => {
  await using ground = await createGround();
  await ground.bus.stop();
  await using stack = await startStack({ topology: 'one', ground });
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'meters', type: 'base', fields: [] });
  await stack.guest.create('meters', {});
  await ground.bus.start();
  await using bus = await openBusReader(stack.natsUrl);
  await eventually('the event is published', () =>
    bus.events.some(({ subject }) => subject === 'events.meters.create'),
  );
});
