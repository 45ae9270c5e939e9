import assert from 'node:assert/strict';
import { at, listAt, objectAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, bodiesAt, got, namesAt, prepare } from './firms.ts';

onEachTopology('an owner gets the events that webhook_rule gives it [webhooks §9.2]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, firms, setRule, own } = await prepare(target, receiver);
  const [north, south] = firms;
  const [atNorth, atSouth, atAdmin] = ['/north', '/south', '/admin'];
  const at_ = (path: string) => new URL(path, receiver.url).href;
  await own(north, at_(atNorth));
  await own(south, at_(atSouth));
  await admin.post(adminPath, { name: 'all', url: at_(atAdmin), events: ['orders.*'] });

  await t.test('without a rule nothing goes to owners', async () => {
    await admin.create('orders', { firm: north, state: 'silent' });
    await got(receiver, atAdmin, 1);
    assert.deepEqual([namesAt(receiver, atNorth), namesAt(receiver, atSouth)], [[], []]);
  });

  await t.test('a create goes to its owner only, without fields that have a view_rule', async () => {
    await setRule('firm = @owner.id');
    const { id } = await admin.create('orders', { firm: north, state: 'new', margin: '12' });
    const [body] = await got(receiver, atNorth, 1);
    await got(receiver, atAdmin, 2);
    assert.equal(at(body, 'event'), 'orders.create');
    const record = objectAt(body ?? {}, 'data.record');
    assert.deepEqual(Object.keys(record), ['id', 'firm', 'state', 'created', 'updated']);
    assert.deepEqual([record.id, record.state], [id, 'new']);
    assert.deepEqual(namesAt(receiver, atSouth), []);
    assert.equal(at(bodiesAt(receiver, atAdmin)[1] ?? {}, 'data.record.margin'), '12', 'admins get all of it');
  });

  await t.test('an update leaves them out of previous and changed too', async () => {
    const { id } = await admin.create('orders', { firm: north, state: 'a', margin: '1' });
    await admin.patch(`/api/v1/orders/${id}`, { state: 'b', margin: '2' });
    // Deliveries without an order arrive in any.
    const body = (await got(receiver, atNorth, 3)).find(({ event }) => event === 'orders.update') ?? {};
    assert.equal(at(body, 'data.previous.state'), 'a');
    assert.equal(at(body, 'data.previous.margin'), undefined);
    assert.equal(at(body, 'data.record.margin'), undefined);
    assert.ok(listAt(body, 'data.changed').map(String).includes('state'));
    assert.ok(!listAt(body, 'data.changed').map(String).includes('margin'));
  });

  await t.test('a record that moves leaves one owner with its id and comes to the other without its past', async () => {
    const { id } = await admin.create('orders', { firm: north, state: 'secret past' });
    await got(receiver, atNorth, 4);
    await admin.patch(`/api/v1/orders/${id}`, { firm: south, state: 'now' });
    const [entered] = await got(receiver, atSouth, 1);
    const left = (await got(receiver, atNorth, 5))[4] ?? {};
    assert.deepEqual([left.event, left.data], ['orders.leave', { id }]);
    assert.equal(entered?.event, 'orders.update');
    assert.deepEqual(Object.keys(objectAt(entered ?? {}, 'data')), ['record']);
    assert.ok(!JSON.stringify(entered).includes('secret past'));
    await admin.delete(`/api/v1/orders/${id}`);
    const [, deleted] = await got(receiver, atSouth, 2);
    assert.equal(deleted?.event, 'orders.delete');
    const headers = receiver.deliveries.filter(({ path }) => path === atNorth).at(-1)?.headers;
    assert.equal(headers?.['x-service-event'], 'orders.leave');
  });
});
