import assert from 'node:assert/strict';
import type { JsonObject } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

const path = '/api/v1/collections';
const indexes = '/api/v1/admin/collections/plants/indexes';

onEachTopology('relation lists keep their links when collections change', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  await admin.define('tags', [{ name: 'name', type: 'text' }]);
  await admin.define('plants', [{ name: 'tag', type: 'relation', collection: 'tags' }, several('more', 'tags')]);
  await admin.define('loops', [several('next', 'loops')]);
  const tag = async () => (await guest.create('tags', {})).id;
  const [a, b, c] = [await tag(), await tag(), await tag()];
  const one = await guest.create('plants', { tag: a, more: [b, a] });
  const none = await guest.create('plants', {});
  const loop = await guest.create('loops', {});
  await guest.patch(`/api/v1/loops/${loop.id}`, { next: [loop.id] });

  const row = (name: string, request: string, expect: Scenario['expect'], more: Partial<Scenario> = {}): Scenario => ({
    name,
    as: 'admin',
    request: request.replace(/ \/(?!api)/, ` ${path}/`),
    expect,
    spec: 'collections §6.4',
    ...more,
  });
  const shows = (name: string, id: string, data: JsonObject): Scenario =>
    row(name, `GET /api/v1/plants/${id}`, { status: 200, json: { data: is.containing(data) } }, { as: 'guest' });
  const optionsOf = (options: JsonObject) => ({
    status: 200,
    json: { data: is.containing({ options: is.containing(options) }) },
  });
  const loses = (name: string, id: string, events: string[]): Scenario =>
    row(name, `DELETE /api/v1/tags/${id}`, { status: 200 }, { as: 'guest', events: ['tags.delete', ...events] });
  const refuses = (name: string, body: object, field: string): Scenario =>
    row(name, 'POST /api/v1/plants', refused.invalid(field), { as: 'guest', body });

  // The records service loads the schema again for a name that it does not know.
  const loaded = row('an unknown collection', 'GET /api/v1/nowhere', refused.notFound, { spec: 'records §1.4' });

  await t.test('rows', (t2) =>
    runScenarios(t2, target, [
      row(
        'an index that searches ids',
        `POST ${indexes}`,
        { status: 201 },
        {
          body: { name: 'ids', columns: ['tag'], type: 'trigram' },
        },
      ),
      row(
        'multiple for a relation with such an index',
        'PATCH /plants/fields/tag',
        refused.invalid('options.multiple'),
        {
          body: { options: { multiple: true } },
          spec: 'collections §10.4',
        },
      ),
      row('a drop of that index', `DELETE ${indexes}/ids`, { status: 200 }),
      row('multiple for a relation with values', 'PATCH /plants/fields/tag', optionsOf({ multiple: true, max: 0 }), {
        body: { options: { multiple: true } },
      }),
      loaded,
      shows('the value as a list', one.id, { tag: [a], more: [b, a] }),
      shows('no value as an empty list', none.id, { tag: [], more: [] }),
      refuses('a record that does not exist', { tag: [one.id] }, 'tag'),
      row(
        'a list of several',
        `PATCH /api/v1/plants/${one.id}`,
        { status: 200 },
        {
          body: { tag: [c, a] },
          events: ['plants.update'],
        },
      ),
      row(
        'multiple switched off with several values',
        'PATCH /plants/fields/tag',
        refused.invalid('options.multiple'),
        {
          body: { options: { multiple: false } },
        },
      ),
      row('a max that a list exceeds', 'PATCH /plants/fields/tag', refused.invalid('options.max'), {
        body: { options: { max: 1 } },
      }),
      row('a max that no list exceeds', 'PATCH /plants/fields/tag', optionsOf({ max: 2 }), {
        body: { options: { max: 2 } },
      }),
      loaded,
      loses('a target of two lists', a, ['plants.update']),
      shows('the lists without it', one.id, { tag: [c], more: [b] }),
      row('multiple switched off', 'PATCH /plants/fields/tag', optionsOf({ multiple: false }), {
        body: { options: { multiple: false } },
      }),
      loaded,
      shows('the only value', one.id, { tag: c, more: [b] }),
      refuses('a single relation to a record that does not exist', { tag: one.id }, 'tag'),
      row('restrict instead of setNull', 'PATCH /plants/fields/more', optionsOf({ cascade: 'restrict' }), {
        body: { options: { cascade: 'restrict' } },
      }),
      row('a new name for the field', 'PATCH /plants/fields/more', { status: 200 }, { body: { name: 'labels' } }),
      row('a new name for the collection', 'PATCH /plants', { status: 200 }, { body: { name: 'herbs' } }),
      row('a new name for the target', 'PATCH /tags', { status: 200 }, { body: { name: 'words' } }),
      row(
        'a list under the new names',
        `PATCH /api/v1/herbs/${none.id}`,
        { status: 200 },
        {
          body: { labels: [b, c] },
          events: ['herbs.update'],
        },
      ),
      row('a record that does not exist, under the new names', 'POST /api/v1/herbs', refused.invalid('labels'), {
        body: { labels: [one.id] },
      }),
      row('a target that restrict keeps', `DELETE /api/v1/words/${b}`, {
        status: 409,
        json: is.containing({ code: 'delete_restricted' }),
      }),
      row('a target collection in use', 'DELETE /words', {
        status: 409,
        json: {
          error: is.text,
          code: 'collection_in_use',
          details: {
            blockers: ['tag', 'labels'].map((name) => ({ collection: 'herbs', field: name })),
          },
        },
      }),
      row(
        'a new list of a collection with records',
        'POST /herbs/fields',
        { status: 201 },
        {
          body: several('fresh', 'words'),
        },
      ),
      loaded,
      row('no value in it', `GET /api/v1/herbs/${one.id}`, {
        status: 200,
        json: { data: is.containing({ fresh: [] }) },
      }),
      row(
        'a list in it',
        `PATCH /api/v1/herbs/${one.id}`,
        { status: 200 },
        {
          body: { fresh: [c] },
          events: ['herbs.update'],
        },
      ),
      row(
        'a dropped list with values',
        'DELETE /herbs/fields/fresh',
        { status: 200, json: { data: null, warnings: [is.matching(/"fresh".*\b1 value /)] } },
        { spec: 'collections §6.7' },
      ),
      loaded,
      row('another dropped list', 'DELETE /herbs/fields/labels', { status: 200 }),
      row(
        'a target that nothing refers to any more',
        `DELETE /api/v1/words/${b}`,
        { status: 200 },
        {
          events: ['words.delete'],
        },
      ),
      row('a collection that refers to itself', 'DELETE /loops', { status: 200 }),
    ]),
  );

  await t.test('a view shows the list [views §2.4]', async () => {
    await admin.define('pots', [several('words', 'words')]);
    const pot = await guest.create('pots', { words: [c] });
    const view = await admin.post(path, { name: 'seen', type: 'view', view_query: 'select id, words from pots' });
    assert.match(String(view.fields), /"type":"relation".*"multiple":true/);
    const { json } = await admin.get(`/api/v1/seen/${pot.id}?expand=words`);
    const word = { id: c };
    const fits = is.containing({
      data: is.containing({ words: [c], expand: { words: [is.containing(word)] } }),
    });
    assert.ok(fits.fits(json), JSON.stringify(json));
  });
});
