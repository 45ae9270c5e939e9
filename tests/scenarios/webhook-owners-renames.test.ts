import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { collections, ownersKey, prepare } from './firms.ts';

onEachTopology("the settings for webhooks' owners follow renames [webhooks §9.1]", async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, ann, firms, allow } = await prepare(target, receiver);
  const change = (collection: string, body: object) => admin.send('PATCH', `${collections}/${collection}`, { body });
  async function changed(collection: string, body: object): Promise<void> {
    const { status, text } = await change(collection, body);
    assert.equal(status, 200, text);
  }
  const fieldsOf = async (collection: string): Promise<readonly { name: string }[]> =>
    JSON.parse(textAt(objectAt((await admin.get(`${collections}/${collection}`)).json, 'data'), 'fields'));
  const renameField = async (collection: string, from: string, to: string) =>
    change(collection, {
      fields: (await fieldsOf(collection)).map((field) => (field.name === from ? { ...field, name: to } : field)),
    });
  const setting = async (key: string) => {
    const { json } = await admin.get('/api/v1/admin/settings');
    return JSON.parse(String(objectAt(json, 'data')[key] || 'null'));
  };
  const refusals = async (answer: ReturnType<typeof change>) => {
    const { status, json, text } = await answer;
    assert.equal(status, 422, text);
    return at(json, 'details') as object;
  };

  await changed('firms', {
    fields: [
      ...(await fieldsOf('firms')),
      { name: 'contact', type: 'email' },
      { name: 'boss', type: 'relation', collection: 'staff' },
    ],
  });
  await allow({ mail: 'contact' });

  await t.test('fields of the owner and of accounts, and the collection', async () => {
    for (const [collection, from, to] of [
      ['staff', 'firm', 'company'],
      ['firms', 'contact', 'address'],
    ] as const) {
      const { status, text } = await renameField(collection, from, to);
      assert.equal(status, 200, text);
    }
    const { manage_rule, mail, events } = await setting(ownersKey);
    assert.deepEqual([manage_rule, mail, events], ['@request.auth.company = id', 'address', ['orders.*']]);
    await changed('firms', { name: 'companies' });
    assert.equal((await setting('webhooks.owners.companies')).manage_rule, '@request.auth.company = id');
    assert.equal(await setting(ownersKey), null);
    await eventually('ann still manages', async () => {
      const { status } = await ann.send('GET', `/api/v1/webhooks?owner=companies/${firms[0]}`);
      return status === 200;
    });
  });

  await t.test('paths over relations, and names of collections', async () => {
    const members = await setting('webhooks.owners.companies');
    await admin.patch('/api/v1/admin/settings', {
      'webhooks.owners.companies': JSON.stringify({
        ...members,
        mail: 'boss.email',
        manage_rule: '@request.auth.collection = "staff" && exists(staff, company = record.id)',
      }),
    });
    assert.equal((await renameField('companies', 'boss', 'head')).status, 200);
    await changed('staff', { name: 'people' });
    const { manage_rule, mail } = await setting('webhooks.owners.companies');
    assert.deepEqual(
      [mail, manage_rule],
      ['head.email', '@request.auth.collection = "people" && exists(people, company = record.id)'],
    );
  });

  await t.test('what they name cannot be dropped', async () => {
    const place = 'settings.webhooks.owners.companies';
    const fields = async (collection: string, without: string) =>
      (await fieldsOf(collection)).filter(({ name }) => name !== without);
    assert.deepEqual(await refusals(change('companies', { fields: await fields('companies', 'head') })), {
      [place]: 'names the field "head" in companies',
    });
    assert.deepEqual(Object.keys(await refusals(change('people', { fields: await fields('people', 'company') }))), [
      place,
    ]);
    const members = await setting('webhooks.owners.companies');
    await admin.patch('/api/v1/admin/settings', {
      'webhooks.owners.companies': JSON.stringify({ ...members, mail: '', manage_rule: '@request.auth.company = id' }),
    });
    await changed('companies', { fields: await fields('companies', 'head') });
    assert.deepEqual(await refusals(admin.send('DELETE', `${collections}/people`)), {
      [place]: 'names the field "company" in people',
    });
  });

  await t.test('a rename that leaves two meanings is refused', async () => {
    const fields = [{ name: 'company', type: 'relation', collection: 'companies' }];
    await admin.post(collections, { name: 'partners', type: 'auth', fields });
    assert.deepEqual(await refusals(renameField('partners', 'company', 'firm')), {
      'settings.webhooks.owners.companies': 'names the field "company" in partners',
    });
  });
});
