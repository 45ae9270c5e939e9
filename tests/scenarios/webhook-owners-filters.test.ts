import assert from 'node:assert/strict';
import { at } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, bodiesAt, got, prepare } from './firms.ts';

onEachTopology("an owner's filter reads what the owner gets [webhooks §9.3]", async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, firms, setRule, own } = await prepare(target, receiver);
  const [north, south] = firms;
  const url = (path: string) => new URL(path, receiver.url).href;
  await setRule('firm = @owner.id');
  const id = await own(north, url('/north'));
  await own(north, url('/all'));

  await t.test('it names no field with a view_rule, and no other collection', async () => {
    for (const filter of [
      'record.margin = "1"',
      'changed("margin")',
      'record.firm.name = "North"',
      'exists(staff, email != "")',
    ]) {
      const { status, text } = await admin.send('PATCH', `${adminPath}/${id}`, { body: { filter } });
      assert.equal(status, 422, `${filter}: ${text}`);
    }
  });

  await t.test('it selects among the events that the rule gives the owner', async () => {
    await admin.patch(`${adminPath}/${id}`, { filter: 'record.state = "b" || previous.state = "past"' });
    await admin.create('orders', { firm: south, state: 'b' });
    const { id: order } = await admin.create('orders', { firm: north, state: 'a' });
    await admin.patch(`/api/v1/orders/${order}`, { state: 'b' });
    const { id: moved } = await admin.create('orders', { firm: south, state: 'past' });
    await admin.patch(`/api/v1/orders/${moved}`, { firm: north, state: 'c' });
    await admin.create('orders', { firm: north, state: 'b' });
    await got(receiver, '/all', 4);
    const bodies = (await got(receiver, '/north', 2)).map((body) => [at(body, 'event'), at(body, 'data.record.state')]);
    assert.deepEqual(bodies.toSorted(), [
      ['orders.create', 'b'],
      ['orders.update', 'b'],
    ]);
    assert.equal(bodiesAt(receiver, '/all').length, 4);
  });

  await t.test('a filter keeps its field from getting a view_rule', async () => {
    const { status, text } = await admin.send('PATCH', '/api/v1/collections/orders/fields/state', {
      body: { view_rule: '' },
    });
    assert.equal(status, 422);
    assert.match(text, /webhooks\.of a firm\.filter/);
  });
});
