import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createWebhook } from '../../harness/clients/webhook.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, objectAt } from '../../harness/json.ts';
import { startReceiver } from '../../harness/servers/receiver.ts';
import type { Target } from '../../harness/stacks/target.ts';

const path = '/api/v1/webhooks/events';
const name = 'shop.closed';

/** Admins read declared events in the catalogue, with a schema that the bodies fulfil; owners never do. */
export async function declaredEvents(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const described = await eventually('the catalogue has the event', async () =>
    listAt((await admin.get(path)).json, 'data').find((one) => one.name === name),
  );

  await t.test(
    'the catalogue describes a declared event, and its bodies fulfil the schema [webhooks §10.4]',
    async () => {
      assert.equal(described.description, 'The shop has closed for the day.');
      assert.deepEqual(at(described, 'example.data'), { revenue: 12.5 });
      const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(objectAt(described, 'schema'));
      assert.ok(isValid(described.example), JSON.stringify(isValid.errors));
      assert.ok(!isValid({ ...objectAt(described, 'example'), data: { revenue: 'much' } }));
      await using receiver = await startReceiver();
      await createWebhook(admin, receiver.url, [name]);
      await admin.send('POST', '/api/x/tools/dispatch', { body: { event: name, payload: { revenue: 7 } } });
      const [sent] = await receiver.received(1);
      assert.ok(isValid(sent?.json), JSON.stringify(isValid.errors));
    },
  );

  await t.test('owners neither read of it nor get it [webhooks §9.3]', async () => {
    await admin.post('/api/v1/collections', { name: 'event_firms', list_rule: '', webhook_rule: 'id = @owner.id' });
    const { id } = await admin.create('event_firms', {});
    await admin.patch('/api/v1/admin/settings', { 'webhooks.owners.event_firms': '{}' });
    const names = listAt((await admin.get(`${path}?owner=event_firms/${id}`)).json, 'data').map((one) => one.name);
    assert.ok(names.includes('event_firms.create'));
    assert.ok(!names.includes(name));
  });

  await t.test('guests and users read no whole catalogue', async () => {
    assert.equal((await target.guest.send('GET', path)).status, 400);
    assert.equal((await (await target.user()).send('GET', path)).status, 400);
  });
}
