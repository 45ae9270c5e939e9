import assert from 'node:assert/strict';
import { objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { define, relation, rowsOf, text } from './history-rows.ts';

/** Creates a record in a collection without history. Returns its path. */
async function createPlain({ guest, admin }: Target): Promise<string> {
  await (await admin()).post('/api/v1/collections', { name: 'plain', type: 'base', fields: [] });
  return `/api/v1/plain/${(await guest.create('plain', {})).id}`;
}

onEachTopology('an admin restores a record', async (t, target) => {
  const root = await target.admin();
  const tags = { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } };
  await define(root, 'makers', [text('name')]);
  await define(root, 'articles', [text('title'), text('slug', { unique: true }), tags, relation('maker', 'makers')]);
  const first = await root.create('articles', { title: 'v1', slug: 'v1', tags: ['a'] });
  const path = `/api/v1/articles/${first.id}`;
  await root.patch(path, { title: 'v2', slug: 'v2', tags: null });
  const taken = await root.create('articles', { slug: 'wanted' });
  await root.patch(`/api/v1/articles/${taken.id}`, { slug: 'given away' });
  await root.create('articles', { slug: 'wanted' });
  const maker = await root.create('makers', {});
  const orphan = await root.create('articles', { maker: maker.id });
  await root.delete(`/api/v1/makers/${maker.id}`);
  const gone = await root.create('articles', {});
  await root.delete(`/api/v1/articles/${gone.id}`);
  const plain = await createPlain(target);
  const restore = (name: string, at: unknown, expect: Scenario['expect'], more: Partial<Scenario> = {}): Scenario => ({
    name,
    as: 'admin',
    request: `POST ${path}/restore?at=${at}`,
    expect,
    spec: 'history §5.1',
    ...more,
  });
  const elsewhere = (name: string, { id, updated }: { id: string; updated: number }, expect: Scenario['expect']) =>
    restore(name, 0, expect, {
      request: `POST /api/v1/articles/${id}/restore?version=${updated}`,
      spec: 'history §5.3',
    });
  const version = (name: string, text: string, expect: Scenario['expect'], more: Partial<Scenario> = {}) =>
    restore(name, 0, expect, { request: `POST ${path}/restore?version=${text}`, spec: 'history §5.1', ...more });
  await runScenarios(t, target, [
    restore('a guest', first.updated, refused.unauthenticated, { as: 'guest' }),
    restore('a user', first.updated, refused.forbidden, { as: 'user' }),
    restore('an empty time', '', refused.malformedWith({ at: is.text })),
    restore('a time that is not a number', 'yesterday', refused.malformedWith({ at: is.text })),
    restore('a missing parameter', 0, refused.malformedWith({ at: is.text }), { request: `POST ${path}/restore` }),
    restore('a time before the first snapshot', first.updated - 1, refused.notFound, { spec: 'history §5.3' }),
    restore('an unknown record', 0, refused.notFound, {
      request: `POST /api/v1/articles/${unknownId}/restore?at=${first.updated}`,
    }),
    restore('a collection without history', 0, refused.notFound, {
      request: `POST ${plain}/restore?at=9999999999`,
    }),
    elsewhere('a deleted record', gone, refused.conflict),
    elsewhere('a unique value that is taken in the meantime', taken, refused.invalid('slug')),
    elsewhere('a relation to a deleted record', orphan, refused.invalid('maker')),
    restore('an If-Match with another version', first.updated, { status: 412 }, { headers: { 'If-Match': 'W/"1"' } }),
    version('an invalid version', '1.02', refused.malformedWith({ version: is.text })),
    version('a version and a time', `${first.updated}&at=${first.updated}`, refused.malformedWith({ at: is.text })),
    version('an unknown version', `${first.updated}.77`, refused.notFound),
    version(
      'the named version',
      `${first.updated}`,
      { status: 200, json: { data: { ...first, updated: is.now } }, headers: { etag: is.etag } },
      { events: ['articles.update'] },
    ),
    restore(
      'a time in the future, which selects the latest version',
      9_999_999_999,
      { status: 200, json: { data: is.containing({ title: 'v1' }) } },
      { events: ['articles.update'] },
    ),
  ]);
  await t.test('a restore has an update row with the admin and a new version [history §5.2]', async () => {
    const rows = await rowsOf(root, path);
    assert.deepEqual(
      rows.map((row) => [row.op, objectAt(row, 'snapshot').title, row.actor_type]),
      [
        ['update', 'v1', 'admin'],
        ['update', 'v1', 'admin'],
        ['update', 'v2', 'admin'],
        ['create', 'v1', 'admin'],
      ],
    );
    assert.equal(new Set(rows.map((row) => textAt(row, 'version'))).size, 4);
    const { json, headers } = await root.get(path);
    assert.deepEqual([json, headers.etag], [{ data: rows[0]?.snapshot }, `W/"${rows[0]?.version}"`]);
  });
});
