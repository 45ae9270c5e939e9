import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { at, listAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, collections, prepare } from './firms.ts';

onEachTopology('what a change takes away is not sent any more [webhooks §9.4]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, firms, setRule, own, allow } = await prepare(target, receiver);
  const [north] = firms;
  const url = new URL('/north', receiver.url).href;
  let id = await own(north, url);
  await setRule('firm = @owner.id');
  const path = () => `${adminPath}/${id}`;
  const pending = async () => Number(at((await admin.get(`${path()}/status`)).json, 'data.pending'));
  const setEnabled = (enabled: boolean) => admin.patch(path(), { enabled });

  /** Makes a delivery that has failed once and waits, changes something, and lets the delivery go. */
  async function waitThen(change: () => Promise<unknown>): Promise<void> {
    receiver.behave({ status: 500 });
    await admin.patch(path(), { retry_delay_ms: 1500, retry_max: 20, retry_backoff: 'fixed' });
    const before = receiver.deliveries.length;
    const { id: order } = await admin.create('orders', { firm: north, state: 'waits', margin: '7' });
    await receiver.received(before + 1);
    await setEnabled(false);
    assert.equal(await pending(), 1);
    await change();
    receiver.behave({ status: 200 });
    await setEnabled(true);
    await eventually('the delivery is gone', async () => (await pending()) === 0);
    assert.ok(order);
  }
  const statuses = async () =>
    listAt((await admin.get(`${path()}/deliveries`)).json, 'data').map((one) => at(one, 'status'));

  await t.test('a rule that no longer holds', async () => {
    await waitThen(() => setRule('firm = @owner.id && state = "other"'));
    assert.deepEqual(await statuses(), []);
    await setRule('firm = @owner.id');
  });

  await t.test('a rule that is removed', async () => {
    await waitThen(() => setRule(''));
    assert.deepEqual(await statuses(), []);
    await setRule('firm = @owner.id');
  });

  await t.test('a setting that no longer names the event', async () => {
    await waitThen(() => allow({ events: ['orders.delete'] }));
    assert.deepEqual(await statuses(), []);
    await allow();
  });

  await t.test('a field that gets a rule of its own', async () => {
    await waitThen(async () => {
      const fields = [
        { name: 'firm', type: 'relation', collection: 'firms' },
        { name: 'state', type: 'text', view_rule: '' },
        { name: 'margin', type: 'text', view_rule: '' },
      ];
      const { status, text } = await admin.send('PATCH', `${collections}/orders`, { body: { fields } });
      assert.equal(status, 200, text);
    });
    const last = receiver.deliveries.at(-1)?.json ?? {};
    assert.equal(at(last, 'data.record.state'), undefined);
    const [delivery] = listAt((await admin.get(`${path()}/deliveries`)).json, 'data');
    assert.deepEqual(at(delivery ?? {}, 'payload.data'), last.data, 'the log shows what was sent');
  });

  await t.test('an owner that is deleted ends its webhooks', async () => {
    const { id: firm } = await admin.create('firms', { name: 'Short-lived' });
    id = await own(String(firm), url);
    await admin.delete(`/api/v1/firms/${firm}`);
    await eventually('the webhook is gone', async () => (await admin.send('GET', path())).status === 404);
  });
});
