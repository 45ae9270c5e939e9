import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { onOneProcess } from '../harness/target.ts';

const page = readFileSync(new URL('../../docs/coming-from-pocketbase.md', import.meta.url), 'utf8');

/** The rules of this product in the table of rules. */
function readRules(): string[] {
  const table = page.split('\n\n').find((block) => block.startsWith('| PocketBase | Recordbus | note |')) ?? '';
  const rows = table.trim().split('\n').slice(2);
  return rows.map((row) => {
    const [, , rule = ''] = row.split(/(?<!\\)\|/);
    return rule.trim().replace(/^`(.*)`$/, '$1');
  });
}

onOneProcess('the rules of the page on PocketBase can be saved', async (t, target) => {
  const admin = await target.admin();
  const define = (name: string, fields: object[], type = 'base') =>
    admin.post('/api/v1/collections', { name, type, fields });
  const relation = (name: string, collection: string, options: object = {}) => ({
    name,
    type: 'relation',
    collection,
    options,
  });
  const text = (name: string) => ({ name, type: 'text' });
  await define('orgs', [text('name')]);
  await define('people', [text('name'), relation('org', 'orgs')], 'auth');
  await define('labels', [text('name')]);
  await define('members', [relation('org', 'orgs'), relation('user', 'people')]);
  await define('tasks', [
    text('title'),
    text('status'),
    relation('author', 'people'),
    relation('org', 'orgs'),
    relation('labels', 'labels', { multiple: true }),
    { name: 'place', type: 'geoPoint' },
  ]);
  await define('comments', [relation('task', 'tasks'), relation('author', 'people')]);

  const rules = readRules();
  assert.ok(rules.length > 15, 'the page has no table of rules');
  for (const rule of rules)
    await t.test(rule, async () => {
      const { status, text: body } = await admin.send('PATCH', '/api/v1/collections/tasks', {
        body: { update_rule: rule },
      });
      assert.equal(status, 200, body);
    });
});
