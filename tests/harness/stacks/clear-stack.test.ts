import assert from 'node:assert/strict';
import type { Client } from '../clients/client.ts';
import { clearStack } from './clear-stack.ts';
import { onOneProcess } from './target.ts';

const path = '/api/v1/collections';
const relation = (collection: string) => ({ name: 'next', type: 'relation', collection });

async function assertCleared(admin: Client): Promise<void> {
  await clearStack(admin);
  assert.deepEqual((await admin.get(path)).json, { data: [] });
}

onOneProcess('a stack is cleared of collections in a circle of relations', async (_t, target) => {
  const admin = await target.admin();
  await admin.post(path, { name: 'first', type: 'base', fields: [relation('first')] });
  await admin.post(path, { name: 'second', type: 'base', fields: [relation('first')] });
  await admin.post(path, { name: 'third', type: 'base', fields: [relation('second')] });
  await admin.post(`${path}/first/fields`, { ...relation('third'), name: 'last', options: { multiple: true } });
  await admin.post(path, { name: 'shown', type: 'view', view_query: 'select id, next from third' });
  await admin.patch(`${path}/first`, { list_rule: 'next.last.next.id != ""' });
  await assertCleared(admin);
});

onOneProcess('a stack is cleared of collections in a circle of rules', async (_t, target) => {
  const admin = await target.admin();
  await admin.post(path, { name: 'first', type: 'auth', fields: [{ name: 'title', type: 'text' }] });
  await admin.post(path, { name: 'second', type: 'base', fields: [], list_rule: 'exists(first, title = "a")' });
  await admin.patch(`${path}/first/fields/title`, { view_rule: 'exists(second, id != "")' });
  await admin.patch(`${path}/first/fields/email`, { view_rule: 'exists(second, id != "")' });
  await assertCleared(admin);
});

onOneProcess('a stack is cleared of a long relation chain', async (_t, target) => {
  const admin = await target.admin();
  const names = Array.from({ length: 12 }, (_, index) => `chain${String.fromCharCode(97 + index)}`);
  await admin.post(path, { name: 'chain', type: 'base', fields: [] });
  for (const [index, name] of names.entries())
    await admin.post(path, { name, type: 'base', fields: [relation(names[index - 1] ?? 'chain')] });
  await assertCleared(admin);
});
