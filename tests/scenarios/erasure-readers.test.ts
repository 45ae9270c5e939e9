import assert from 'node:assert/strict';
import { openLive } from '../harness/clients/live-client.ts';
import { createWebhook, webhooksPath } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, numberAt } from '../harness/json.ts';
import { receivedRecordIds, startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { erased } from './erasures.ts';

const marker = 'Quetzalinchen';
// A replay finds messages by the collection's name, so no other file has this one.
const collection = 'erased_letters';
const letters = { collection };

onEachTopology("an erased record's messages are still in the stream, and nobody reads them out", async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: collection,
    fields: [{ name: 'text', type: 'text' }],
  });
  const since = Math.floor(Date.now() / 1000) - 60;
  const first = await openLive(target.url, [letters]);
  await admin.create(collection, { text: 'first' });
  await first.arrived('create');
  const cursor = first.lastEventId ?? '';
  const { id } = await admin.create(collection, { text: marker });
  await admin.patch(`/api/v1/${collection}/${id}`, { text: `${marker} again` });
  const kept = await admin.create(collection, { text: 'kept' });
  await first.arrived('create', 3);
  first.close();
  await erased(admin, collection, id);

  await t.test('a live connection that continues before them gets the delete only [privacy §2.5]', async () => {
    for (const options of [{ headers: { 'Last-Event-ID': cursor } }, { asBody: true }]) {
      const wanted = options.asBody ? { ...letters, after: cursor } : letters;
      await using live = await openLive(target.url, [wanted], options);
      await live.arrived('create');
      await live.arrived('delete');
      assert.ok(!JSON.stringify(live.messages).includes(marker), JSON.stringify(live.messages));
      const [created] = await live.arrived('create');
      assert.equal(at(created?.data, 'record.id'), kept.id);
    }
  });

  await t.test('a replay for a new webhook leaves them out [privacy §2.5]', async () => {
    const { id: hook } = await createWebhook(admin, receiver.url, [`${collection}.*`]);
    const body = { since, missing: true };
    const answer = await admin.send('POST', `${webhooksPath}/${hook}/replay`, { body });
    assert.equal(numberAt(answer.json, 'data.count'), 3, 'two creates and the delete');
    await eventually('they have come', async () => receivedRecordIds(receiver).length === 3);
    assert.ok(!JSON.stringify(receiver.deliveries).includes(marker));
  });

  await t.test(
    'a subscription whose rule reads its fields gets the delete, or reads again if it is late [privacy §2.2]',
    async () => {
      await using live = await openLive(target.url, [{ ...letters, filter: 'text = "kept"' }]);
      const { id: shown } = await admin.create(collection, { text: 'kept' });
      await live.arrived('create');
      await erased(admin, collection, shown);
      const told = await eventually('a message about it', () =>
        live.messages.find(({ type }) => type === 'delete' || type === 'resync'),
      );
      if (told.type === 'resync') assert.equal(at(told.data, 'reason'), 'schema');
      else assert.equal(told.data.id, shown);
    },
  );

  await t.test('a new record with its id is followed as usual [privacy §2.5]', async () => {
    await using live = await openLive(target.url, [letters]);
    const put = await admin.send('PUT', `/api/v1/${collection}/${id}`, { body: { text: 'new' } });
    assert.equal(put.status, 201, put.text);
    const [created] = await live.arrived('create');
    assert.equal(at(created?.data, 'record.text'), 'new');
  });
});
