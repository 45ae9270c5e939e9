import assert from 'node:assert/strict';
import { at, listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { refusedIndexes } from './refused-search-indexes.ts';
import { untilReady } from './search-ready.ts';

const path = '/api/v1/admin/collections/articles/indexes';
const text = (name: string, more: object = {}) => ({ name, type: 'text', ...more });

const fields = [
  text('title'),
  { name: 'body', type: 'editor' },
  { name: 'meta', type: 'json' },
  { name: 'kind', type: 'select', options: { values: ['news', 'essay'] } },
  { name: 'tags', type: 'select', options: { values: ['sea', 'land'], multiple: true } },
  { name: 'lang', type: 'select', options: { values: ['en', 'de', 'ja', 'xx'] } },
  text('secret', { options: { encrypted: true } }),
  text('note', { view_rule: '@request.auth.id != ""' }),
  { name: 'pin', type: 'password' },
  { name: 'year', type: 'number' },
];

const make = (body: object): Pick<Scenario, 'as' | 'request' | 'body'> => ({
  as: 'admin',
  request: `POST ${path}`,
  body: { name: 'words', type: 'search', ...body },
});

const words = {
  name: 'words',
  columns: ['title', 'body'],
  unique: false,
  type: 'search',
  fields: [
    { field: 'title', weight: 'A' },
    { field: 'body', weight: 'D' },
  ],
  language: 'english',
  prefix: true,
  typos: true,
  synonyms: { ship: ['boat', 'vessel'] },
  system: false,
};

onEachTopology('an admin creates, changes and drops a search index', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'articles', type: 'base', fields, list_rule: null });
  await admin.create('articles', { title: 'A ship', body: '<p>at sea</p>', tags: ['sea', 'land'], meta: { sub: 'x' } });

  await runScenarios(t, target, [
    ...Object.entries(refusedIndexes).map(
      ([what, [named, body]]): Scenario => ({
        name: `a search index with ${what}`,
        ...make(body),
        expect: refused.naming(named),
        spec: 'search §1.2',
      }),
    ),
    {
      name: 'fields for an index that is not for search',
      as: 'admin',
      request: `POST ${path}`,
      body: { name: 'bad', columns: ['title'], fields: [{ field: 'title' }] },
      expect: refused.invalid('fields'),
      spec: 'search §1.1',
    },
    {
      name: 'a search index',
      ...make({
        fields: [{ field: 'title', weight: 'A' }, { field: 'body' }],
        language: 'english',
        synonyms: { Ship: ['boat', 'vessel'] },
      }),
      expect: { status: 201, json: { data: { ...words, state: 'building' } } },
      spec: 'search §1.1',
    },
    {
      name: 'a second search index',
      ...make({ name: 'more', fields: [{ field: 'title' }] }),
      expect: refused.invalid('type'),
      spec: 'search §1.1',
    },
  ]);

  await t.test('the index is built, and its state says so [search §1.6]', async () => {
    await untilReady(admin, 'articles');
    const { json } = await admin.get(path);
    assert.deepEqual(listAt(json, 'data').at(-1), { ...words, state: 'ready' });
  });

  const withTitle = (more: object) => fields.map((field) => (field.name === 'title' ? { ...field, ...more } : field));
  await runScenarios(t, target, [
    {
      name: 'a view_rule on a searched field',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles',
      body: { fields: withTitle({ view_rule: '@request.auth.id != ""' }) },
      expect: refused.naming('words'),
      spec: 'search §1.8',
    },
    {
      name: 'a searched field that becomes encrypted',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles',
      body: { fields: withTitle({ options: { encrypted: true } }) },
      expect: refused.naming('words'),
      spec: 'search §1.8',
    },
    {
      name: 'a change that changes nothing',
      as: 'admin',
      request: `PATCH ${path}/words`,
      body: { language: 'english' },
      expect: { status: 200, json: { data: { ...words, state: 'ready' } } },
      spec: 'search §1.7',
    },
    {
      name: 'a change',
      as: 'admin',
      request: `PATCH ${path}/words`,
      body: {
        fields: [{ field: 'title' }, { field: 'meta.sub' }, { field: 'tags' }],
        language: { field: 'lang' },
        prefix: false,
      },
      expect: {
        status: 200,
        json: {
          data: {
            ...words,
            columns: ['title', 'meta', 'tags', 'lang'],
            fields: [
              { field: 'title', weight: 'D' },
              { field: 'meta.sub', weight: 'D' },
              { field: 'tags', weight: 'D' },
            ],
            language: { field: 'lang' },
            prefix: false,
            state: 'building',
          },
        },
      },
      spec: 'search §1.7',
    },
    {
      name: 'a wrong change',
      as: 'admin',
      request: `PATCH ${path}/words`,
      body: { fields: [{ field: 'secret' }] },
      expect: refused.invalid('fields'),
      spec: 'search §1.7',
    },
    {
      name: 'a change of an unknown index',
      as: 'admin',
      request: `PATCH ${path}/nothing`,
      body: { prefix: true },
      expect: refused.notFound,
      spec: 'search §1.7',
    },
    {
      name: 'a change of an index that is not for search',
      as: 'admin',
      request: `PATCH ${path}/system:id`,
      body: { prefix: true },
      expect: refused.notFound,
      spec: 'search §1.7',
    },
    {
      name: 'a list of languages',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles/fields/lang',
      body: { options: { multiple: true } },
      expect: refused.naming('words'),
      spec: 'search §1.8',
    },
    {
      name: 'a renamed field',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles/fields/title',
      body: { name: 'headline' },
      expect: { status: 200 },
      spec: 'search §1.8',
    },
    {
      name: 'a renamed collection',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles',
      body: { name: 'papers' },
      expect: { status: 200 },
      spec: 'search §1.8',
    },
    {
      name: 'a write after the renames',
      request: 'POST /api/v1/papers',
      body: { headline: 'A boat', lang: 'ja', meta: { sub: ['deep', { x: 1 }] }, tags: ['sea'] },
      expect: { status: 201 },
      events: ['papers.create'],
      spec: 'search §1.8',
    },
  ]);
  await untilReady(admin, 'papers');

  const snapshot = (await admin.get('/api/v1/admin/migrations/snapshot')).json;
  const papers = listAt(snapshot, 'data.collections').find(({ name }) => name === 'papers');
  await t.test('a snapshot holds the definition, without the state [collections §11.1]', () => {
    assert.deepEqual(at(papers, 'indexes.0'), {
      name: 'words',
      unique: false,
      type: 'search',
      fields: [
        { field: 'headline', weight: 'D' },
        { field: 'meta.sub', weight: 'D' },
        { field: 'tags', weight: 'D' },
      ],
      language: { field: 'lang' },
      prefix: false,
      typos: true,
      synonyms: { ship: ['boat', 'vessel'] },
    });
  });

  await runScenarios(t, target, [
    {
      name: 'a snapshot that changes nothing',
      as: 'admin',
      request: 'POST /api/v1/admin/migrations/apply',
      body: { snapshot, mode: 'sync' },
      expect: { status: 200, json: is.containing({ data: is.containing({ updated: [] }) }) },
      spec: 'collections §11.5',
    },
    {
      name: 'a drop of a searched field',
      as: 'admin',
      request: 'DELETE /api/v1/collections/papers/fields/tags',
      expect: { status: 200, json: is.anything },
      spec: 'search §1.8',
    },
    {
      name: 'the list without the index',
      as: 'admin',
      request: 'GET /api/v1/admin/collections/papers/indexes',
      expect: {
        status: 200,
        json: { data: [is.containing({ name: 'system:id' }), is.containing({ name: 'system:created' })] },
      },
      spec: 'search §1.8',
    },
    {
      name: 'a write without the index',
      request: 'POST /api/v1/papers',
      body: { headline: 'Another' },
      expect: { status: 201 },
      events: ['papers.create'],
      spec: 'search §1.8',
    },
    {
      name: 'a snapshot that brings the index back',
      as: 'admin',
      request: 'POST /api/v1/admin/migrations/apply',
      body: { snapshot, mode: 'sync' },
      expect: { status: 200, json: is.containing({ data: is.containing({ updated: ['papers'] }) }) },
      spec: 'collections §11.3',
    },
    {
      name: 'a drop of the index',
      as: 'admin',
      request: 'DELETE /api/v1/admin/collections/papers/indexes/words',
      expect: { status: 200, json: { data: null } },
      spec: 'collections §10.1',
    },
    {
      name: 'a write after the drop',
      request: 'POST /api/v1/papers',
      body: { headline: 'The last' },
      expect: { status: 201 },
      events: ['papers.create'],
      spec: 'search §1.8',
    },
    {
      name: 'the index again',
      as: 'admin',
      request: 'POST /api/v1/admin/collections/papers/indexes',
      body: { name: 'words', type: 'search', fields: [{ field: 'meta' }], language: 'cjk' },
      expect: { status: 201 },
      spec: 'search §1.1',
    },
    {
      name: 'a drop of the collection',
      as: 'admin',
      request: 'DELETE /api/v1/collections/papers',
      expect: { status: 200, json: { data: null } },
      spec: 'collections §7.1',
    },
  ]);
});
