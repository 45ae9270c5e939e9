import assert from 'node:assert/strict';
import { numberAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology, type Target } from '../harness/target.ts';
import { unknownId } from './blog.ts';
import { define, relation, rowsOf, text } from './history-rows.ts';

/** The path of a record in a collection without history. */
async function givenPlain({ guest, admin }: Target): Promise<string> {
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
  const second = await root.patch(path, { title: 'v2', slug: 'v2', tags: null });
  const taken = await root.create('articles', { slug: 'wanted' });
  await root.patch(`/api/v1/articles/${taken.id}`, { slug: 'given away' });
  await root.create('articles', { slug: 'wanted' });
  const maker = await root.create('makers', {});
  const orphan = await root.create('articles', { maker: maker.id });
  await root.delete(`/api/v1/makers/${maker.id}`);
  const gone = await root.create('articles', {});
  await root.delete(`/api/v1/articles/${gone.id}`);
  const plain = await givenPlain(target);
  const restore = (name: string, at: unknown, expect: Scenario['expect'], more: Partial<Scenario> = {}): Scenario => ({
    name,
    as: 'admin',
    request: `POST ${path}/restore?at=${at}`,
    expect,
    spec: 'interface §4.5',
    ...more,
  });
  const elsewhere = (name: string, { id, updated }: { id: string; updated: number }, expect: Scenario['expect']) =>
    restore(name, 0, expect, { request: `POST /api/v1/articles/${id}/restore?at=${updated}`, spec: 'contract §2' });
  const etag = is.matching(/^W\/"\d+"$/);
  await runScenarios(t, target, [
    restore('a guest', first.updated, refused.unauthenticated, { as: 'guest' }),
    restore('a user', first.updated, refused.forbidden, { as: 'user' }),
    restore('no time', '', refused.malformedWith({ at: is.text })),
    restore('a time that is no number', 'yesterday', refused.malformedWith({ at: is.text })),
    restore('without the parameter', 0, refused.malformedWith({ at: is.text }), { request: `POST ${path}/restore` }),
    restore('before the first snapshot', first.updated - 1, refused.notFound, { spec: 'contract §2' }),
    restore('a record that never was', 0, refused.notFound, {
      request: `POST /api/v1/articles/${unknownId}/restore?at=${first.updated}`,
    }),
    restore('a collection without history', 0, refused.notFound, {
      request: `POST ${plain}/restore?at=9999999999`,
    }),
    elsewhere('a deleted record', gone, refused.conflict),
    elsewhere('a unique value that is taken by now', taken, refused.invalid('slug')),
    elsewhere('a relation whose target is lost', orphan, refused.invalid('maker')),
    restore('not the version that is meant', first.updated, { status: 412 }, { headers: { 'If-Match': 'W/"1"' } }),
    restore(
      'the version of then is the present one',
      first.updated,
      { status: 200, json: { data: { ...first, updated: is.now } }, headers: { etag } },
      { events: ['articles.update'] },
    ),
    restore(
      'the most recent one at or before the time',
      second.updated,
      { status: 200, json: { data: is.containing({ title: 'v2' }) } },
      { events: ['articles.update'] },
    ),
  ]);
  await t.test('a restore is an update row of the admin, and updated advances [contract §2]', async () => {
    const rows = await rowsOf(root, path);
    assert.deepEqual(
      rows.map((row) => [row.op, objectAt(row, 'snapshot').title, row.actor_type]),
      [
        ['update', 'v2', 'admin'],
        ['update', 'v1', 'admin'],
        ['update', 'v2', 'admin'],
        ['create', 'v1', 'admin'],
      ],
    );
    const times = rows.map((row) => numberAt(row, 'at'));
    assert.deepEqual(
      times,
      [...new Set(times)].sort((a, b) => b - a),
    );
    assert.deepEqual((await root.get(path)).json, { data: rows[0]?.snapshot });
  });
});
