import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { at, listAt, textAt } from '../harness/json.ts';
import type { PocketBaseData } from '../harness/pocketbase/data.ts';
import { prepareMove } from '../harness/pocketbase/move.ts';

const id = (name: string) => name.padEnd(15, '0');
const times = { created: '2025-01-01 10:00:00.123Z', updated: '2025-01-02 10:00:00.123Z' };

/** Collections whose rules tell what a create stores. */
function fill(data: PocketBaseData): void {
  data.define({
    id: 'pbc_ideas',
    name: 'ideas',
    fields: [
      { name: 'title', type: 'text', required: true },
      { name: 'note', type: 'text', min: 3 },
      { name: 'link', type: 'url' },
      { name: 'rank', type: 'number', min: 2 },
      { name: 'size', type: 'number' },
      { name: 'done', type: 'bool' },
      { name: 'secret', type: 'text', hidden: true },
    ],
    rules: { list: '', view: '', create: 'rank = 0 && done = false && note = "" && link = ""', update: 'rank != size' },
  });
  data.define({
    id: 'pbc_votes',
    name: 'votes',
    fields: [
      { name: 'amount', type: 'number', required: true },
      { name: 'sure', type: 'bool', required: true },
    ],
    rules: { list: '', create: '' },
    indexes: ['CREATE UNIQUE INDEX `idx_amount` ON `votes` (`amount` COLLATE NOCASE, `sure`)'],
  });
  data.define({
    id: 'pbc_sites',
    name: 'sites',
    fields: [
      { name: 'slug', type: 'text' },
      { name: 'home', type: 'url' },
    ],
    rules: { list: '', create: '' },
    indexes: [
      'CREATE UNIQUE INDEX `idx_slug` ON `sites` (`slug` COLLATE NOCASE) WHERE `slug` != ""',
      'CREATE UNIQUE INDEX `idx_home` ON `sites` (`home` COLLATE NOCASE)',
    ],
  });
  data.define({
    id: 'pbc_codes',
    name: 'codes',
    fields: [
      { name: 'code', type: 'text', required: true, autogeneratePattern: 'c-[a-z0-9]{20}' },
      { name: 'odd', type: 'text', autogeneratePattern: '\\pL{3}' },
    ],
    rules: { list: '', create: '' },
  });
  data.define({
    id: 'pbc_done',
    name: 'rank_of_ideas',
    type: 'view',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'rank', type: 'number' },
    ],
    rules: { list: 'rank >= 0', view: null },
    options: { viewQuery: 'select `id`, title, IFNULL(rank, 0) as rank from ideas where done == 0;' },
  });
  data.define({
    id: 'pbc_over',
    name: 'over_a_view',
    type: 'view',
    fields: [{ name: 'title', type: 'text' }],
    rules: { view: '' },
    options: { viewQuery: 'select rank_of_ideas.id, rank_of_ideas.title from rank_of_ideas' },
  });
  for (const [name, viewQuery] of [
    ['by_year', "select id, strftime('%Y', created) as year from ideas"],
    ['no_such', 'select id, nothing from ideas'],
    ['over_no_such', 'select id from no_such'],
  ] as const)
    data.define({ id: `pbc_${name}`, name, type: 'view', fields: [], rules: { list: '' }, options: { viewQuery } });
  // A collection that the app calls its own, though PocketBase does not let its admins delete it.
  data.define({ id: 'pbc_kept', name: 'kept', system: true, fields: [], rules: { list: '' } });
  data.insert('ideas', {
    ...{ id: id('one'), title: 'One', note: '', link: '', rank: 0, size: 1, done: 0, secret: 'of one' },
    ...times,
  });
}

suite('definitions that move in from PocketBase', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const { stack, admin, directory, importFrom, move } = await prepareMove(tidying, fill);
  const { guest } = stack;
  const first = await move();
  assert.equal(first.code, 0, first.stderr);
  const statusOf = async (method: string, path: string, body: object) =>
    (await guest.send(method, path, { body })).status;

  test('a create stores 0, false and an empty text for what it does not name, and its rule sees them [move §2.3]', async () => {
    const answer = await guest.send('POST', '/api/v1/ideas', { body: { title: 'Two' } });
    assert.equal(answer.status, 201, answer.text);
    const values = ['note', 'link', 'rank', 'size', 'done'].map((name) => at(answer.json, `data.${name}`));
    assert.deepEqual(values, ['', '', 0, 0, false]);
    assert.equal(await statusOf('POST', '/api/v1/ideas', { title: 'Three', rank: 5 }), 403);
    // PocketBase stores 0 for null: `rank != size` does not hold.
    const path = `/api/v1/ideas/${String(at(answer.json, 'data.id'))}`;
    assert.equal((await admin.send('PATCH', path, { body: { rank: null } })).status, 200);
    assert.equal(await statusOf('PATCH', path, { title: 'Taken' }), 403);
  });

  for (const [body, status] of [
    [{ amount: 1, sure: true }, 201],
    [{ sure: true }, 403],
    [{ amount: null, sure: true }, 403],
    [{ amount: 0, sure: true }, 403],
    [{ amount: 1 }, 403],
    [{ amount: 1, sure: null }, 403],
  ] as const)
    test(`a required number is not 0, and a required bool is true: ${JSON.stringify(body)} [move §2.3]`, async () => {
      assert.equal(await statusOf('POST', '/api/v1/votes', body), status);
    });

  test('a view comes with its query rewritten, or is left out with the reason [move §2.6]', async () => {
    const listed = await guest.get('/api/v1/rank_of_ideas?filter=title = "One"');
    assert.equal(listed.status, 200, listed.text);
    assert.deepEqual(at(listed.json, 'data'), [{ id: id('one'), title: 'One', rank: 0 }]);
    assert.equal((await guest.get(`/api/v1/rank_of_ideas/${id('one')}`)).status, 403);
    assert.equal(at((await guest.get(`/api/v1/over_a_view/${id('one')}`)).json, 'data.title'), 'One');
    const reasons = new Map(
      listAt(first.json, 'notes').flatMap((note) =>
        at(note, 'kind') === 'left_out' ? [[at(note, 'collection'), textAt(note, 'text')]] : [],
      ),
    );
    assert.match(reasons.get('by_year') ?? '', /strftime\(\) is SQLite's/);
    assert.match(reasons.get('no_such') ?? '', /nothing.*: select id, nothing from ideas/);
    assert.match(reasons.get('over_no_such') ?? '', /no_such/);
    assert.equal((await admin.get('/api/v1/collections/by_year')).status, 404);
  });

  test('a unique index that ignores case does so here for texts, and else it is a risk in the report [move §2.3]', async () => {
    const risks = listAt(first.json, 'notes').filter((note) => at(note, 'kind') === 'risk');
    assert.deepEqual(
      risks.map((note) => textAt(note, 'text')),
      ['the index idx_home does not ignore case here'],
    );
    const sites = ['blue', 'BLUE', 'Bluer'];
    const answers = await Promise.all(
      sites.map((slug) => guest.send('POST', '/api/v1/sites', { body: { slug, home: `https://a.example/${slug}` } })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 422]);
    const refused = answers.find(({ status }) => status === 422);
    assert.deepEqual(at(refused?.json, 'details'), { slug: 'is already taken' });
    const kept = (await guest.get('/api/v1/sites?filter=slug = "Bluer"')).json;
    assert.equal(listAt(kept, 'data').length, 1);
  });

  test('a text that PocketBase fills is filled here, too [move §2.3]', async () => {
    const codes = new Set<unknown>();
    for (const body of [{}, {}, { code: 'own' }]) {
      const { status, json } = await guest.send('POST', '/api/v1/codes', { body });
      assert.equal(status, 201);
      codes.add(at(json, 'data.code'));
    }
    const [one, two, own] = [...codes].map(String);
    for (const code of [one, two]) assert.match(code ?? '', /^c-[a-z0-9]{20}$/);
    assert.equal(own, 'own');
    const note = listAt(first.json, 'notes').find((one) => at(one, 'collection') === 'codes');
    assert.deepEqual([at(note, 'field'), at(note, 'kind')], ['odd', 'changed']);
    assert.match(textAt(note, 'text'), /^without default: /);
  });

  test('a system collection of the app comes, too', async () => {
    assert.equal((await guest.get('/api/v1/kept')).status, 200);
  });

  test('a run without changes says so, and a dry run ends with 0 [move §4]', async () => {
    const text = await importFrom(directory);
    assert.equal(text.code, 0, text.stderr);
    assert.match(text.stdout, /^Nothing to do: 1 record unchanged\.$/m);
    assert.doesNotMatch(text.stdout, /Moved|Rules:|exact/);
    const dry = await importFrom(directory, '--dry-run');
    assert.deepEqual([dry.code, dry.stdout.split('\n')[0]], [0, text.stdout.split('\n')[0]]);
  });

  test('a hidden field is seen and written by admins only [move §2.3]', async () => {
    const path = `/api/v1/ideas/${id('one')}`;
    const seen = await guest.get(path);
    assert.deepEqual([seen.status, at(seen.json, 'data.title'), at(seen.json, 'data.secret')], [200, 'One', undefined]);
    assert.equal(await statusOf('PATCH', path, { secret: 'taken' }), 403);
    assert.equal(await statusOf('POST', '/api/v1/ideas', { title: 'Four', secret: 'taken' }), 403);
    assert.equal(at((await admin.get(path)).json, 'data.secret'), 'of one');
    assert.equal((await admin.send('PATCH', path, { body: { secret: 'new' } })).status, 200);
  });
});
