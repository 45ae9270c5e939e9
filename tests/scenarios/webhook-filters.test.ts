import assert from 'node:assert/strict';
import { createWebhook, webhooksPath as path } from '../harness/clients/webhook.ts';
import { listAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { type Delivery, startReceiver } from '../harness/servers/receiver.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const orders = [
  { name: 'total', type: 'number' },
  { name: 'status', type: 'text' },
  { name: 'note', type: 'text' },
];

onEachTopology("a webhook's filter is checked when it is saved", async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'orders', fields: orders });
  await admin.post('/api/v1/collections', { name: 'invoices', fields: [{ name: 'total', type: 'text' }] });
  const body = { name: 'big', url: 'https://receiver.example/hook', events: ['orders.*'] };
  const made = await admin.post(path, { ...body, filter: ' record.total > 100 ' });
  assert.equal(made.filter, 'record.total > 100');
  const accepted: Record<string, object> = {
    'the record': { filter: 'record.total > 100 && record.status = "paid"' },
    'the record before': { filter: 'previous.total < record.total' },
    'changed fields': { filter: 'changed("status") && not changed("total")' },
    'the event and the actor': { filter: 'event = "orders.update" || actor.type = "user" || actor.id != null' },
    'another collection': { filter: 'exists(invoices, total = record.status)' },
    'no filter': { filter: null },
    'an empty text': { filter: '' },
    'a field that only one of the collections has': {
      events: ['orders.*', 'invoices.*'],
      filter: 'record.status = "x"',
    },
    'facts of custom events': { events: ['shop.opened'], filter: 'actor.type = "admin"' },
  };
  const wrong: Record<string, readonly [body: object, message: RegExp]> = {
    'a text that does not parse': [{ filter: 'record.total >' }, /character 15/],
    'a name without `record`': [{ filter: 'total > 100' }, /the event has no field "total"/],
    'an unknown field': [{ filter: 'record.sum > 100' }, /orders has no field "sum"/],
    'an unknown field in previous': [{ filter: 'previous.sum > 100' }, /orders has no field "sum"/],
    'an unknown changed field': [{ filter: 'changed("sum")' }, /orders has no field "sum"/],
    'a field that is not text': [{ filter: 'record.total:lower = "x"' }, /./],
    'a kind that one of the collections has not': [
      { events: ['orders.*', 'invoices.*'], filter: 'distance(record.total, 1, 1) < 1' },
      /geoPoint/,
    ],
    'a request value': [{ filter: '@request.auth.id = "x"' }, /is for rules/],
    'a record of custom events': [{ events: ['shop.opened'], filter: 'record.total > 1' }, /has no field "record"/],
    'a number': [{ filter: 5 }, /./],
  };
  await runScenarios(t, target, [
    ...Object.entries(accepted).map(
      ([name, members]): Scenario => ({
        name: `a filter may have ${name}`,
        as: 'admin',
        request: `POST ${path}`,
        body: { ...body, ...members },
        expect: { status: 201 },
        spec: 'webhooks §1.7',
      }),
    ),
    ...Object.keys(wrong).map(
      (name): Scenario => ({
        name: `a filter is refused with ${name}`,
        as: 'admin',
        request: `POST ${path}`,
        body: { ...body, ...wrong[name]?.[0] },
        expect: refused.naming('filter'),
        spec: 'webhooks §1.7',
      }),
    ),
    {
      name: 'other events are refused if the filter cannot be used for them',
      as: 'admin',
      request: `PATCH ${path}/${made.id}`,
      body: { events: ['shop.opened'] },
      expect: refused.naming('filter'),
      spec: 'webhooks §1.7',
    },
  ]);
  await t.test('errors say what is wrong, and where [webhooks §1.7]', async () => {
    for (const [members, message] of Object.values(wrong)) {
      const { json } = await admin.send('POST', path, { body: { ...body, ...members } });
      assert.match(String(Reflect.get(Object(Reflect.get(Object(json), 'details')), 'filter')), message);
    }
  });
});

onEachTopology('a webhook gets the events that fulfil its filter', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'sales', fields: orders });
  await admin.post('/api/v1/collections', { name: 'returns', fields: [{ name: 'reason', type: 'text' }] });
  const hooks: Record<string, string> = {
    big: 'record.total > 100',
    huge: 'record.total > 1000',
    paid: 'changed("status") && record.status = "paid" && previous.status != "paid"',
    byAdmins: 'actor.type = "admin" && event != "sales.delete"',
    same: 'previous.note = record.note && event = "sales.update"',
    linked: 'exists(returns, reason = record.status)',
  };
  for (const [name, filter] of Object.entries(hooks))
    await createWebhook(admin, `${receiver.url}/${name}`, [filter.includes('total') ? 'sales.*' : '*'], {
      name,
      filter,
    });
  await createWebhook(admin, `${receiver.url}/end`, ['returns.*']);

  await t.test('each event is judged for each webhook [webhooks §1.7]', async () => {
    await admin.create('returns', { reason: 'paid' });
    const small = await admin.create('sales', { total: 50, status: 'new' });
    const large = await admin.create('sales', { total: 500, status: 'paid' });
    await admin.patch(`/api/v1/sales/${small.id}`, { status: 'paid' });
    await admin.patch(`/api/v1/sales/${large.id}`, { total: 5000 });
    await admin.delete(`/api/v1/sales/${large.id}`);
    const expected = {
      big: ['sales.create 500', 'sales.delete 5000', 'sales.update 5000'],
      huge: ['sales.delete 5000', 'sales.update 5000'],
      paid: ['sales.update 50'],
      byAdmins: [
        'returns.create undefined',
        'sales.create 50',
        'sales.create 500',
        'sales.update 50',
        'sales.update 5000',
      ],
      same: ['sales.update 50', 'sales.update 5000'],
      linked: ['sales.create 500', 'sales.delete 5000', 'sales.update 50', 'sales.update 5000'],
      end: ['returns.create undefined'],
    };
    await receiver.received(Object.values(expected).flat().length);
    assert.deepEqual(groupByHook(receiver.deliveries), expected);
  });

  await t.test('a filter follows a field and holds back its drop [webhooks §1.7]', async () => {
    await admin.patch('/api/v1/collections/sales/fields/total', { name: 'amount' });
    const list = listAt((await admin.get(path)).json, 'data');
    const filterOf = (wanted: string) => list.find(({ name }) => name === wanted)?.filter;
    assert.equal(filterOf('big'), 'record.amount > 100');
    assert.equal(filterOf('paid'), hooks.paid);
    const both = await admin.send('PATCH', '/api/v1/collections/sales/fields/status', { body: { name: 'state' } });
    assert.equal(both.status, 422, 'orders has the field too, so the filter would have to name two fields');
    assert.match(both.text, /webhooks\.paid\.filter/);
    for (const [place, message] of [
      ['sales/fields/amount', /webhooks\.big\.filter.*names the field .*amount/],
      ['sales/fields/status', /webhooks\.paid\.filter.*names the field/],
      ['returns', /webhooks\.linked\.filter.*returns/],
    ] as const) {
      const { status, text } = await admin.send('DELETE', `/api/v1/collections/${place}`);
      assert.equal(status, 422, text);
      assert.match(text, message);
    }
    const from = receiver.deliveries.length;
    await admin.create('sales', { amount: 2000, status: 'late' });
    const now = (await receiver.received(from + 3)).slice(from).map(({ path }) => path.split('/').at(-1));
    assert.deepEqual(now.sort(), ['big', 'byAdmins', 'huge']);
  });
});

function groupByHook(deliveries: readonly Delivery[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (const { path: at, json } of deliveries) {
    const name = at.split('/').at(-1) ?? '';
    const { event, data } = json as { event: string; data: { record: { total?: number } } };
    groups[name] = [...(groups[name] ?? []), `${event} ${data.record.total}`].sort();
  }
  return groups;
}
