import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import type { Client } from '../harness/clients/client.ts';
import { openLiveList } from '../harness/clients/live-list.ts';
import { eventsAreWhole, everyWriteIsThere, startSteadyWrites } from '../harness/clients/steady-writes.ts';
import { createWebhook } from '../harness/clients/webhook.ts';
import { committedIds, everyRecordArrives } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { type PostgresPair, startPostgresPair } from '../harness/servers/postgres-pair.ts';
import { receivedRecordIds, startReceiver } from '../harness/servers/receiver.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';

const collection = 'meters';
const definition = { name: collection, type: 'base', fields: [{ name: 'value', type: 'number' }] };

const groundOn = ({ url }: PostgresPair) => createGround({ url, drop: async () => {} });

const totalOf = async (admin: Client) => at((await admin.get(`/api/v1/${collection}?perPage=1`)).json, 'totalItems');

for (const topology of topologiesOrInCi('processes'))
  test(`after a failover to a synchronous standby no answered write is lost (${topology})`, async (t) => {
    await using pair = await startPostgresPair('synchronous');
    await using ground = await groundOn(pair);
    await using stack = await startStack({ topology, ground });
    await using receiver = await startReceiver();
    const admin = await stack.admin();
    await admin.post('/api/v1/collections', definition);
    await createWebhook(admin, receiver.url, [`${collection}.*`]);
    await using list = openLiveList({ urlOf: () => stack.url, collection });
    const { id: first } = await stack.guest.create(collection, { value: 0 });
    await eventually('the live list shows the first record', () => list.records.has(first));
    await using writes = startSteadyWrites({ clients: [stack.guest], collection });
    const moreWrites = (count: number) => {
      const from = writes.succeeded;
      return eventually(`${count} writes`, () => writes.succeeded >= from + count);
    };
    await moreWrites(100);
    await totalOf(admin);

    await pair.killPrimary();
    const killedAtMs = performance.now();
    await pair.promote();
    await moreWrites(1);
    t.diagnostic(`writes again ${Math.round(performance.now() - killedAtMs)} ms after the primary was killed`);
    await eventually('every service is ready', async () => (await stack.guest.get('/readyz')).status === 200);
    await moreWrites(100);
    const written = await writes.stop();

    await everyWriteIsThere(admin, collection, written);
    await everyRecordArrives(admin, receiver, collection);
    await using reader = await openBusReader(stack.natsUrl);
    await eventually('every event is on the stream, in order', () => eventsAreWhole(reader.events, written));
    const ids = await committedIds(admin, collection);
    assert.equal(await totalOf(admin), ids.size, 'the total is the number of records');
    await eventually('the live list shows every record', () => list.records.size === ids.size);
  });

test('when the primary hangs and the standby takes over, the services leave it', async (t) => {
  await using pair = await startPostgresPair('asynchronous');
  await using ground = await groundOn(pair);
  await using stack = await startStack({ topology: 'one', ground });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', definition);
  await createWebhook(admin, receiver.url, [`${collection}.*`]);
  const kept = await admin.create(collection, { value: 1 });
  await eventually('the standby has the record', async () => {
    const [row] = await pair.onPrimary('select from pg_stat_replication where replay_lsn = pg_current_wal_lsn()');
    return row !== undefined;
  });

  await t.test('writes that the standby has not received are lost for all services alike', async () => {
    pair.holdBack();
    const lost = await Promise.all(Array.from({ length: 20 }, (_, value) => admin.create(collection, { value })));
    assert.equal(await totalOf(admin), 21);
    pair.freezePrimary();
    const frozenAtMs = performance.now();
    await pair.promote();
    const { id } = await eventually('a record is written', async () => {
      const answer = await stack.guest.send('POST', `/api/v1/${collection}`, { body: { value: 2 } });
      return answer.status === 201 ? { id: String(at(answer.json, 'data.id')) } : undefined;
    });
    t.diagnostic(`writes again ${Math.round(performance.now() - frozenAtMs)} ms after the primary was frozen`);
    await eventually('its event is delivered', () => receivedRecordIds(receiver).includes(id));
    await Promise.all(Array.from({ length: 30 }, (_, value) => admin.create(collection, { value })));
    const ids = await committedIds(admin, collection);
    assert.deepEqual([ids.has(kept.id), lost.some((record) => ids.has(record.id))], [true, false]);
    assert.equal(await totalOf(admin), ids.size, 'the total is the number of records');
  });
});
