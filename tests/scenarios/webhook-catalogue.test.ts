import assert from 'node:assert/strict';
import { cataloguePath, validatorOf } from '../harness/docs/event-catalogue.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, prepare } from './firms.ts';

/** Waits for so many requests at a path, and returns their bodies: each of a batch, or the only one. */
const bodiesAt = (receiver: Receiver, path: string, count: number): Promise<readonly JsonObject[]> =>
  eventually(`${count} bodies at ${path}`, () => {
    const bodies = receiver.deliveries
      .filter((one) => one.path === path)
      .flatMap(({ json }) => (Array.isArray(json) ? (json as JsonObject[]) : [json]));
    return bodies.length >= count && bodies;
  });

onEachTopology('every body is as the catalogue describes it [webhooks §10.4]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, ann, firms, setRule } = await prepare(target, receiver);
  const [north, south] = firms;
  const url = (path: string) => new URL(path, receiver.url).href;
  await setRule('firm = @owner.id');
  const owner = { collection: 'firms', id: north };
  const admins = listAt((await admin.get(cataloguePath)).json, 'data');
  const owners = listAt((await ann.get(`${cataloguePath}?owner=firms/${north}`)).json, 'data');
  const sent = { admin: validatorOf(admins), owner: validatorOf(owners) };

  /** An order's whole life: it is made, changed, moves away and back, and is deleted. */
  async function live(): Promise<void> {
    const { id } = await admin.create('orders', { firm: north, state: 'a', margin: '1' });
    for (const change of [{ state: 'b' }, { firm: south }, { firm: north }, { state: null }])
      await admin.patch(`/api/v1/orders/${id}`, change);
    await admin.delete(`/api/v1/orders/${id}`);
  }
  const add = (path: string, members: object) =>
    admin.post(adminPath, { name: 'Catalogued', url: url(path), events: ['orders.*'], ...members });

  await t.test('sent alone, in batches, and read, to admins and to owners', async () => {
    const batch = { max: 6, wait_ms: 0 };
    await add('/admin-single', {});
    await add('/admin-batch', { batch });
    await add('/owner-single', { owner });
    await add('/owner-batch', { owner, batch });
    const read = { type: 'poll', url: '', name: 'Reader', events: ['orders.*'] };
    const readers = [await admin.post(adminPath, read), await admin.post(adminPath, { ...read, owner })] as const;
    await live();
    for (const path of ['/admin-single', '/admin-batch'])
      for (const body of await bodiesAt(receiver, path, 6)) sent.admin(body);
    const names = new Set<unknown>();
    for (const path of ['/owner-single', '/owner-batch'])
      for (const body of await bodiesAt(receiver, path, 6)) {
        sent.owner(body);
        names.add(body.event);
      }
    assert.deepEqual([...names].sort(), ['orders.create', 'orders.delete', 'orders.leave', 'orders.update']);
    for (const [index, { id, key }] of readers.entries()) {
      const bodies = await eventually('all are read', async () => {
        const headers = { 'X-Webhook-Key': String(key) };
        const page = listAt(
          (await target.guest.send('GET', `/api/v1/webhooks/${id}/events`, { headers })).json,
          'data',
        );
        return page.length >= 6 && page;
      });
      for (const body of bodies) (index === 0 ? sent.admin : sent.owner)(body);
    }
  });

  await t.test("a batch of writes, and every collection's events", async () => {
    await add('/all', { events: ['staff.*', 'firms.*', 'orders.*'] });
    const operations = [
      { op: 'create', collection: 'firms', data: { name: 'West' } },
      { op: 'create', collection: 'orders', data: { state: 'x' } },
    ];
    await admin.post('/api/v1/batch', { operations }, 200);
    const { id } = await admin.create('staff', { email: 'bo@example.com', password: 'a long and winding password' });
    await admin.patch(`/api/v1/staff/${id}`, { firm: north });
    await admin.delete(`/api/v1/staff/${id}`);
    const bodies = await bodiesAt(receiver, '/all', 5);
    for (const body of bodies) sent.admin(body);
    assert.equal(bodies.filter(({ batch }) => batch !== undefined).length, 2);
  });

  await t.test('events of the product itself', async () => {
    const { id } = await add('/asks', { events: ['nothing.*'] });
    await add('/system', { events: ['system.*'] });
    receiver.behave((path) =>
      path === '/asks' ? { status: 200, headers: { 'webhook-delivery': 'disable' } } : { status: 200 },
    );
    await admin.post(`${adminPath}/${id}/test`, {}, 200);
    const [test = {}] = await bodiesAt(receiver, '/asks', 1);
    assert.equal(test.event, 'webhooks.test');
    sent.admin(test);
    const disabled = await eventually('its disabling arrives', async () =>
      (await bodiesAt(receiver, '/system', 1)).find((body) => at(body, 'data.record.id') === id),
    );
    assert.deepEqual([disabled.event, at(disabled, 'data.record.reason')], ['system.webhook.disabled', 'asked']);
    sent.admin(disabled);
  });

  await t.test('its examples too, and owners hear of no field that they never see', () => {
    for (const one of admins) sent.admin(objectAt(one, 'example'));
    for (const one of owners) {
      sent.owner(objectAt(one, 'example'));
      assert.ok(!JSON.stringify(one).includes('margin'), textAt(one, 'name'));
    }
    const names = admins.map((one) => textAt(one, 'name'));
    for (const name of ['system.job.dead', 'system.signed_in', 'system.webhook.disabled', 'webhooks.test'])
      assert.ok(names.includes(name), name);
    assert.ok(owners.every((one) => textAt(one, 'name').startsWith('orders.')));
  });
});
