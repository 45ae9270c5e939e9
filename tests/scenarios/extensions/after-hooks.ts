import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt } from '../../harness/json.ts';
import type { Target } from '../../harness/stacks/target.ts';

const name = (field: string) => ({ name: field, type: 'text' });

export async function afterHooks(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'ledger', type: 'base', fields: [name('entry')] });
  await admin.post('/api/v1/collections', {
    name: 'ledger_items',
    type: 'base',
    fields: [name('title'), name('body')],
  });
  const entries = async () =>
    listAt((await admin.get('/api/v1/ledger?perPage=1000')).json, 'data').map(({ entry }) => String(entry));
  const entry = (text: string) =>
    eventually(`the entry ${text}`, async () => (await entries()).includes(text) || undefined);

  await t.test('receive what was written, and by whom [extensions §2.5]', async () => {
    const made = await target.guest.send('POST', '/api/v1/ledger_items', { body: { title: 'one' } });
    await entry('made one by guest');
    const path = `/api/v1/ledger_items/${at(made.json, 'data.id')}`;
    await admin.patch(path, { title: 'two' });
    await entry('one to two: title');
    await admin.delete(path);
    await entry('gone two');
  });
  await t.test('are called again until they succeed [extensions §2.5]', async () => {
    await admin.create('ledger_items', { title: 'at the third try' });
    await entry('made at the third try by admin');
  });
  await t.test('receive a whole event that is too large for a message [events §2.6]', async () => {
    await admin.create('ledger_items', { title: 'large', body: 'x'.repeat(900_000) });
    const { id } = await admin.create('ledger_items', { title: 'larger', body: 'x'.repeat(900_000) });
    await admin.patch(`/api/v1/ledger_items/${id}`, { body: 'y'.repeat(900_000) });
    await entry('larger to larger: body');
  });
  await t.test('record each event once', async () => {
    const found = await entries();
    assert.deepEqual(new Set(found).size, found.length);
  });
  for (const collection of ['ledger', 'ledger_items']) await admin.delete(`/api/v1/collections/${collection}`);
}
