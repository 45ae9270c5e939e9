import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { type JsonObject, listAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { apply, documentOf, shop } from './snapshot-documents.ts';

const names = shop.map(({ name }) => name);

async function snapshotOf(admin: Client): Promise<{ document: JsonObject; collections: readonly JsonObject[] }> {
  const { json } = await admin.get('/api/v1/admin/migrations/snapshot');
  return { document: objectAt(json, 'data'), collections: listAt(json, 'data.collections') };
}

/** Returns the members of a definition that are the same in every deployment. */
const lasting = (collections: readonly JsonObject[]) =>
  collections
    .filter(({ name }) => names.includes(String(name)))
    .map(({ id: _id, created_at: _created, updated_at: _updated, ...rest }) => rest)
    .sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));

onEachTopology('a snapshot is applied as a whole', async (t, target) => {
  const admin = await target.admin();
  /** Deletes all the shop's collections, including the circular relations. */
  const closeShop = async () => {
    for (const name of ['best_orders', 'named_orders']) await admin.delete(`/api/v1/collections/${name}`);
    await admin.patch('/api/v1/collections/orders', { create_rule: null, fields: [{ name: 'total', type: 'number' }] });
    for (const name of ['customers', 'orders', 'clerks']) await admin.delete(`/api/v1/collections/${name}`);
  };
  await runScenarios(t, target, [
    {
      name: 'a snapshot with circular relations, and views before the collections that they read',
      as: 'admin',
      request: `POST ${apply}`,
      body: { snapshot: documentOf(shop) },
      expect: {
        status: 200,
        json: { data: { mode: 'additive', created: names, updated: [], unchanged: [] }, warnings: is.anything },
      },
      spec: 'collections §11.5',
    },
  ]);
  const whole = await snapshotOf(admin);

  await t.test('the document contains rules and indexes [collections §11.1]', () => {
    assert.equal(whole.document.version, 1);
    assert.equal(typeof whole.document.generated_at, 'number');
    const orders = whole.collections.find(({ name }) => name === 'orders');
    assert.deepEqual(orders?.indexes, [{ name: 'in_customer', columns: ['customer'], unique: false, type: 'btree' }]);
    assert.equal(orders?.create_rule, 'customer.name != ""');
  });

  await t.test('a second apply changes nothing [collections §11.5]', async () => {
    for (const body of [{ snapshot: whole.document, mode: 'sync' }, { snapshot: { data: whole.document } }]) {
      const answer = await admin.post(apply, body, 200);
      assert.deepEqual([answer.created, answer.updated], [[], []]);
      assert.ok(names.every((name) => (answer.unchanged as string[]).includes(name)));
    }
    const again = await snapshotOf(admin);
    assert.deepEqual(again.collections, whole.collections);
  });

  await t.test('another deployment gets the same definitions [collections §11.5]', async () => {
    await closeShop();
    const answer = await admin.post(apply, { snapshot: whole.document, mode: 'additive' }, 200);
    assert.deepEqual([...(answer.created as string[])].sort(), [...names].sort());
    assert.deepEqual(lasting((await snapshotOf(admin)).collections), lasting(whole.collections));
  });

  const { id: ada } = await admin.create('customers', { name: 'Ada' });
  const customers = whole.collections.find(({ name }) => name === 'customers');
  const fields: JsonObject[] = JSON.parse(String(customers?.fields));
  const renamed = fields.map((field) => (field.name === 'code' ? { ...field, name: 'number' } : field));
  await runScenarios(t, target, [
    {
      name: 'additive keeps existing collections',
      as: 'admin',
      request: `POST ${apply}`,
      body: {
        snapshot: documentOf([
          { ...customers, list_rule: '' },
          { name: 'extra', type: 'base' },
        ]),
      },
      expect: {
        status: 200,
        json: {
          data: { mode: 'additive', created: ['extra'], updated: [], unchanged: ['customers'] },
          warnings: [
            'Guests may create, update and delete records in extra: create_rule, update_rule and delete_rule are null.',
          ],
        },
      },
      spec: 'collections §11.3',
    },
    {
      name: 'sync changes rules, options and fields, renames by id, and adds missing fields',
      as: 'admin',
      request: `POST ${apply}`,
      body: {
        snapshot: documentOf([
          {
            ...customers,
            fields: [...renamed.filter(({ name }) => name !== 'favourite'), { name: 'vip', type: 'bool' }],
            list_rule: null,
            view_rule: 'vip = true',
            indexes: [{ name: 'by_name', columns: ['name'] }],
          },
          { name: 'extra', type: 'base' },
        ]),
        mode: 'sync',
      },
      expect: {
        status: 200,
        json: {
          data: { mode: 'sync', created: [], updated: ['customers'], unchanged: ['extra'] },
          warnings: is.anything,
        },
      },
      spec: 'collections §11.3',
    },
    {
      name: 'sync keeps fields that the snapshot lacks, with their data',
      as: 'admin',
      request: `GET /api/v1/customers/${ada}`,
      expect: {
        status: 200,
        json: { data: is.containing({ name: 'Ada', number: null, vip: null, favourite: null }) },
      },
      spec: 'collections §11.3',
    },
    {
      name: 'the index is replaced by the one of the snapshot',
      as: 'admin',
      request: 'GET /api/v1/admin/collections/customers/indexes',
      expect: {
        status: 200,
        json: {
          data: is.listWith({ name: 'by_name', columns: ['name'], unique: false, type: 'btree', system: false }),
        },
      },
      spec: 'collections §11.3',
    },
    {
      name: 'a renamed field together with the new query of its view',
      as: 'admin',
      request: `POST ${apply}`,
      body: {
        snapshot: documentOf([
          {
            name: 'named_orders',
            type: 'view',
            view_query: 'select o.id, o.total, c.label as name from orders o join customers c on c.id = o.customer',
          },
          {
            ...customers,
            fields: renamed.map((field) => (field.name === 'name' ? { ...field, name: 'label' } : field)),
            list_rule: null,
            indexes: [],
          },
        ]),
        mode: 'sync',
      },
      expect: {
        status: 200,
        json: {
          data: { mode: 'sync', created: [], updated: ['named_orders', 'customers'], unchanged: [] },
          warnings: is.anything,
        },
      },
      spec: 'collections §11.4',
    },
    {
      name: 'views that the snapshot lacks stay',
      request: 'GET /api/v1/best_orders',
      expect: { status: 200, json: is.containing({ data: [], totalItems: 0 }) },
      spec: 'collections §11.3',
    },
    {
      name: 'a renamed field without the new query of its view',
      as: 'admin',
      request: `POST ${apply}`,
      body: { snapshot: documentOf([{ ...customers, fields: renamed }]), mode: 'sync' },
      expect: refused.invalid('collections.named_orders.view_query'),
      spec: 'collections §11.5',
    },
  ]);
  await closeShop();
});
