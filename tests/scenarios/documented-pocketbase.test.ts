import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { listAt } from '../harness/json.ts';
import { onOneProcess } from '../harness/stacks/target.ts';

const page = readFileSync(new URL('../../docs/coming-from-pocketbase.md', import.meta.url), 'utf8');

/** The rules in the rules table: PocketBase's, and ours for each. */
function readRules(): [theirs: string, ours: string][] {
  const table = page.split('\n\n').find((block) => block.startsWith('| PocketBase | Recordbus | note |')) ?? '';
  const rows = table.trim().split('\n').slice(2);
  const text = (cell = ''): string =>
    cell
      .trim()
      .replace(/^`(.*)`$/, '$1')
      .replaceAll('\\|', '|');
  return rows.map((row) => {
    const [, theirs, ours] = row.split(/(?<!\\)\|/);
    return [text(theirs), text(ours)];
  });
}

/**
 * The records that PocketBase finds (tools/search/filter.go): an operator without ? needs a value, and all of them. For
 * a record without any the value is null, which only = null and != find.
 */
const found: Readonly<Record<string, readonly string[]>> = {
  'labels.name ?= "bug"': ['one', 'mixed'],
  'labels.name = "bug"': ['one'],
  'labels.name ~ "b"': ['one'],
  'labels.name !~ "b"': ['other'],
  'labels.name ?!= "bug"': ['none', 'mixed', 'other'],
  'labels.name != "bug"': ['none', 'other'],
  'labels:length > 2': [],
  'kinds:each ~ "b"': ['one'],
  "title = ''": ['', 'null'],
  "title != ''": ['none', 'one', 'mixed', 'other'],
};

onOneProcess('the rules on the page about PocketBase can be saved', async (t, target) => {
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
  await define(
    'people',
    [
      { name: 'role', type: 'select', options: { values: ['admin', 'editor'] } },
      relation('org', 'orgs'),
      relation('teams', 'orgs', { multiple: true }),
    ],
    'auth',
  );
  await define('labels', [text('name'), text('color')]);
  await define('members', [relation('org', 'orgs'), relation('user', 'people')]);
  await define('tasks', [
    text('title'),
    text('status'),
    { name: 'done', type: 'bool' },
    { name: 'rank', type: 'number' },
    { name: 'due', type: 'date' },
    { name: 'meta', type: 'json' },
    relation('author', 'people'),
    relation('org', 'orgs'),
    relation('labels', 'labels', { multiple: true }),
    relation('helpers', 'people', { multiple: true }),
    { name: 'kinds', type: 'select', options: { values: ['bug', 'other'], multiple: true } },
    { name: 'place', type: 'geoPoint' },
  ]);
  await define('comments', [relation('task', 'tasks'), relation('author', 'people')]);

  const rules = readRules();
  assert.ok(rules.length > 15, 'the page has no table of rules');
  const [bug, other] = [await admin.create('labels', { name: 'bug' }), await admin.create('labels', { name: 'x' })];
  const add = (title: string | null, labels: readonly { id: string }[], kinds: readonly string[]) =>
    admin.create('tasks', { title, labels: labels.map(({ id }) => id), kinds, status: title ?? 'null' });
  await add('none', [], []);
  await add('one', [bug], ['bug']);
  await add('mixed', [bug, other], ['bug', 'other']);
  await add('other', [other], ['other']);
  const known = new Map(rules);
  for (const [theirs, expected] of Object.entries(found))
    await t.test(`${theirs} finds what it found`, async () => {
      const ours = known.get(theirs);
      assert.ok(ours !== undefined, 'the page has no such row');
      // Records without a title are only in the way of the other tests.
      const isOfTitle = theirs.startsWith('title');
      const extra = isOfTitle ? [await add('', [], []), await add(null, [], [])] : [];
      const changed = { body: { list_rule: ours } };
      assert.equal((await admin.send('PATCH', '/api/v1/collections/tasks', changed)).status, 200);
      const names = listAt((await target.guest.get('/api/v1/tasks?sort=created')).json, 'data').map(({ title }) =>
        String(title),
      );
      assert.deepEqual(names.toSorted(), [...expected].toSorted());
      for (const { id } of extra) await admin.send('DELETE', `/api/v1/tasks/${id}`);
    });
  for (const [, rule] of rules)
    await t.test(rule, async () => {
      const { status, text: body } = await admin.send('PATCH', '/api/v1/collections/tasks', {
        body: { update_rule: rule },
      });
      assert.equal(status, 200, body);
    });
});
