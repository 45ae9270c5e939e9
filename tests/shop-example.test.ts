import assert from 'node:assert/strict';
import { createClient } from '@recordbus/client';
import { startCustomerReceiver } from '@recordbus/shop-example/receiver';
import { addCustomer, allowWebhooks, applySchema, portalLink, registerEndpoint } from '@recordbus/shop-example/set-up';
import { eventually } from './harness/eventually.ts';
import { firstAdmin } from './harness/stacks/stack.ts';
import { onNewStacks, onOneProcess } from './harness/stacks/target.ts';

onNewStacks('the example has its own names');

onOneProcess('examples/shop: customers register endpoints, and get their own orders only', async (_t, target) => {
  await target.admin();
  const admin = createClient(target.url);
  await admin.admin.login(firstAdmin);
  await applySchema(admin);
  await using ofNorth = await startCustomerReceiver(() => {});
  await using ofSouth = await startCustomerReceiver(() => {});
  await allowWebhooks(admin, [ofNorth.url, ofSouth.url]);
  const north = await addCustomer(admin, target.url, 'North');
  const south = await addCustomer(admin, target.url, 'South');
  ofNorth.verifyWith(await registerEndpoint(north, ofNorth.url));
  ofSouth.verifyWith(await registerEndpoint(south, ofSouth.url));
  const order = await admin.from('orders').create({ company: north.company, item: 'A lamp', margin: 12 });
  await admin.from('orders').update(order.id, { company: south.company });
  await eventually('both have their events', () => ofNorth.bodies.length === 2 && ofSouth.bodies.length === 1);
  assert.deepEqual(
    ofNorth.bodies.map(({ event }) => event),
    ['orders.create', 'orders.leave'],
  );
  assert.equal(ofSouth.bodies[0]?.data.record?.item, 'A lamp');
  assert.ok(!JSON.stringify([ofNorth.bodies, ofSouth.bodies]).includes('margin'));
  assert.match(await portalLink(admin, target.url, north), /\/_\/portal#.{40,}$/);
  await assert.rejects(registerEndpoint({ ...north, company: south.company }, ofNorth.url), /owner not found/);
});
