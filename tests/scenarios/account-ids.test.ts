import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, numberAt, objectAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { countsOf, ended, imported, linesOf, refusedRows, sendImport } from './import-jobs.ts';

const password = 'a long and winding password';
const [first, second] = ['id_holders', 'id_seekers'];

onEachTopology("no writer gives an account another account's id [records §17.2]", async (t, target) => {
  const admin = await target.admin();
  for (const name of [first, second])
    await admin.post('/api/v1/collections', { name, type: 'auth', history_enabled: true });
  await admin.post('/api/v1/collections', { name: 'id_pages', fields: [] });
  await admin.patch('/api/v1/admin/settings', { 'pocketbase.enabled': '1' });
  let count = 0;
  const account = (more: object = {}) => {
    count += 1;
    return { email: `id-writer-${count}@example.com`, password, ...more };
  };
  const put = (collection: string, id: string) => admin.send('PUT', `/api/v1/${collection}/${id}`, { body: account() });
  assert.equal((await put(first, 'held')).status, 201);

  const batch = (operation: object) => admin.send('POST', '/api/v1/batch', { body: { operations: [operation] } });
  const pocketbase = (id: string) =>
    admin.send('POST', `/pb/api/collections/${second}/records`, {
      body: account({ id, passwordConfirm: password }),
    });
  await eventually('the routes of PocketBase are there', async () => (await pocketbase('pocket')).status === 200);
  const writers = [
    ['PUT', (id: string) => put(second, id)],
    ["a batch's create", (id: string) => batch({ op: 'create', collection: second, id, data: account() })],
    ["a batch's upsert", (id: string) => batch({ op: 'upsert', collection: second, id, data: account() })],
    ["a create by PocketBase's clients", pocketbase],
  ] as const;
  for (const [index, [name, write]] of writers.entries())
    await t.test(name, async () => {
      const refused = await write('held');
      assert.ok([400, 422].includes(refused.status), `${refused.status} ${refused.text}`);
      // PocketBase's own answer, with its words.
      assert.match(
        refused.text,
        /"id":.*(is an account's in another collection|already used by another auth collection)/,
      );
      assert.equal((await admin.get(`/api/v1/${second}/held`)).status, 404);
      const taken = await write(`free-${index}`);
      assert.ok([200, 201].includes(taken.status), taken.text);
      assert.equal((await admin.get(`/api/v1/${second}/free-${index}`)).status, 200);
    });

  const imports: readonly Readonly<Record<string, string>>[] = [{ keep: 'id' }, { mode: 'upsert' }, { mode: 'skip' }];
  for (const [index, parameters] of imports.entries())
    await t.test(`an import with ${JSON.stringify(parameters)}`, async () => {
      const rows = linesOf([account({ id: 'held' }), account({ id: `row-${index}` })]);
      const tried = await imported(admin, second, { format: 'ndjson', ...parameters, dry_run: '1' }, rows);
      assert.deepEqual(countsOf(tried), { total: 2, read: 2, done: 1, refused: 1 });
      const job = await imported(admin, second, { format: 'ndjson', ...parameters }, rows);
      assert.deepEqual(countsOf(job), { total: 2, read: 2, done: 1, refused: 1 });
      const [line = ''] = (await refusedRows(admin, job)).split('\n');
      assert.deepEqual(at(JSON.parse(line), '_refused'), { id: "is an account's in another collection" });
      assert.equal((await admin.get(`/api/v1/${second}/held`)).status, 404);
      assert.equal((await admin.get(`/api/v1/${second}/row-${index}`)).status, 200);
    });

  await t.test('a restore, if another account has got the id meanwhile [history §6.3]', async () => {
    const restore = () => admin.send('POST', `/api/v1/${first}/left/restore?deleted=1&at=9999999999`, { body: {} });
    assert.equal((await put(first, 'left')).status, 201);
    await admin.delete(`/api/v1/${first}/left`);
    assert.equal((await put(second, 'left')).status, 201);
    const refused = await restore();
    assert.equal(refused.status, 422, refused.text);
    assert.deepEqual(Object.keys(objectAt(refused.json, 'details')), ['id']);
    await admin.delete(`/api/v1/${second}/left`);
    assert.equal((await restore()).status, 201);
  });

  await t.test('a POST has no say about the id, and a record that is no account may have any', async () => {
    const made = await admin.create(second, account({ id: 'held' }));
    assert.notEqual(made.id, 'held');
    assert.equal((await admin.send('PUT', '/api/v1/id_pages/held', { body: {} })).status, 201);
    assert.equal((await put(first, 'held')).status, 200);
  });

  await t.test('imports and PUTs at once: one of them gets each id', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `race-${index}`);
    const rows = linesOf(ids.map((id) => account({ id })));
    const send = async (collection: string) => {
      const answer = await sendImport(admin, collection, { format: 'ndjson', keep: 'id' }, rows);
      return ended(admin, String(at(answer.json, 'data.id')));
    };
    // Both imports have the same addresses: these are unique in their collection only.
    const [one, two] = await Promise.all([send(first), send(second), ...ids.map((id) => put(first, id))]);
    for (const job of [one, two]) assert.equal(job?.state, 'done', JSON.stringify(job));
    const filter = ids.map((id) => `id = "${id}"`).join(' || ');
    const got = await Promise.all(
      [first, second].map(async (collection) => {
        const { json } = await admin.send('POST', `/api/v1/records/${collection}/list`, {
          body: { filter, perPage: 100 },
        });
        assert.equal(numberAt(json, 'totalItems'), listAt(json, 'data').length);
        return listAt(json, 'data').map(({ id }) => id);
      }),
    );
    assert.deepEqual(got.flat().toSorted(), ids.toSorted());
  });
});
