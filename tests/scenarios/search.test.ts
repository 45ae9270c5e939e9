import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { at, listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { untilReady } from './search-ready.ts';

const text = (name: string, more: object = {}) => ({ name, type: 'text', ...more });

const fields = [
  text('title'),
  text('body'),
  { name: 'page', type: 'editor' },
  { name: 'meta', type: 'json' },
  { name: 'tags', type: 'select', options: { values: ['old town', 'harbour'], multiple: true } },
  text('status'),
  { name: 'year', type: 'number' },
  text('note', { view_rule: '@request.auth.id != ""' }),
];

const path = (search: string, more = '', collection = 'places') =>
  `GET /api/v1/${collection}?search=${encodeURIComponent(search)}${more}`;

const filter = (expression: string) => `&filter=${encodeURIComponent(expression)}`;

onEachTopology('a search finds records by their words', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'places',
    type: 'base',
    fields,
    list_rule: 'status != "hidden" || @request.auth.id != ""',
  });
  await admin.post('/api/v1/collections', { name: 'plain', type: 'base', fields: [text('title')] });
  const make = (title: string, more: object = {}) => admin.create('places', { title, ...more });
  const museum = await make('Museum of the sea', { body: 'Ships and gardens. Open daily.', year: 3 });
  const cafe = await make('Café Müller', { page: '<p class="museum">cakes &amp; <b>coffee</b></p>', year: 1 });
  const garden = await make('Garden', { body: 'A garden for running', meta: { sub: ['Rose-bed', { deep: 'tulip' }] } });
  const hidden = await make('Secret museum vault', { status: 'hidden', note: 'platypus' });
  const town = await make('Walk', { tags: ['old town', 'harbour'], body: 'sea', year: 2 });
  await admin.post('/api/v1/admin/collections/places/indexes', {
    name: 'words',
    type: 'search',
    fields: [
      { field: 'title', weight: 'A' },
      { field: 'body', weight: 'C' },
      { field: 'page', weight: 'C' },
      { field: 'meta.sub' },
      { field: 'tags', weight: 'B' },
    ],
    language: 'english',
    synonyms: { gallery: ['museum', 'old town'] },
  });
  await untilReady(admin, 'places');
  // A replica may hear a moment later that the index is ready.
  await eventually('every replica searches', async () => (await admin.get('/api/v1/places?search=x')).status === 200);

  const finds = (name: string, request: string, found: readonly object[], as: Caller = 'guest'): Scenario => ({
    name,
    as,
    request: `${request}&fields=title`,
    expect: {
      status: 200,
      json: {
        data: found.map((record) => ({ id: at(record, 'id'), title: at(record, 'title') })),
        page: 1,
        perPage: 30,
        totalItems: found.length,
        totalPages: found.length === 0 ? 0 : 1,
      },
    },
    spec: 'search §2.2',
  });
  const fails = (name: string, request: string): Scenario => ({
    name,
    request,
    expect: { status: 400, json: is.containing({ code: is.code }) },
    spec: 'search §2.5',
  });

  await runScenarios(t, target, [
    finds('a word, in every form', path('museums'), [museum]),
    finds('a hidden record for one who may see it', path('museum', filter('status = "hidden"')), [hidden], 'admin'),
    finds('words in any order, in different fields', path('gardens museum'), [museum]),
    finds('a word with an accent, without it', path('cafe muller'), [cafe]),
    finds('a word without an accent, with it', path('Cáfé'), [cafe]),
    finds('a text within tags, but not the tags', path('coffee'), [cafe]),
    finds('the beginning of the last word', path('sea mus'), [museum]),
    finds('not the beginning of another word', path('mus sea'), []),
    finds('not from one letter', path('m'), []),
    finds('a phrase', path('"museum of the sea"'), [museum]),
    finds('not a phrase with other words between', path('"museum sea"'), []),
    finds('no phrase over two fields', path('"sea ships"'), []),
    finds('no word with a minus', path('garden -museum'), [garden]),
    finds('no phrase with a minus', path('garden -"open daily"'), [garden]),
    finds('alternatives', path('coffee or tulip', '&sort=title'), [cafe, garden]),
    finds('one of the words', path('coffee tulips', '&searchMode=any&sort=title'), [cafe, garden]),
    finds('a value in a JSON field', path('tulip'), [garden]),
    finds('half a word with a hyphen', path('rose'), [garden]),
    finds('a word with a hyphen', path('rose-bed'), [garden]),
    finds('a value in a list', path('"old town"'), [town]),
    finds('synonyms', path('gallery', '&sort=title'), [museum, town]),
    finds('the word for a synonym only', path('harbour'), [town]),
    finds('in one field', path('garden', '&searchFields=title'), [garden]),
    finds('in fields whose weights others have', path('coffee', '&searchFields=page'), [cafe]),
    finds('not in other fields', path('coffee', '&searchFields=body'), []),
    finds('a minus in one field', path('garden -ships', '&searchFields=title'), [garden]),
    finds('a heavier field first', path('garden'), [garden, museum]),
    finds('with a filter', path('sea', filter('year > 2')), [museum]),
    finds('with a sort', path('sea', '&sort=year'), [town, museum]),
    finds('nothing but stop words', path('the and', '&sort=title'), [cafe, garden, museum, town]),
    finds('nothing but punctuation', path('-- "" !?', '&sort=title'), [cafe, garden, museum, town]),
    {
      name: 'the score',
      request: path('coffee', '&fields=title,_score'),
      expect: {
        status: 200,
        json: is.containing({ data: [{ id: cafe.id, title: 'Café Müller', _score: is.number }] }),
      },
      spec: 'search §3.1',
    },
    {
      name: 'a whole record',
      request: path('coffee'),
      expect: { status: 200, json: is.containing({ data: [is.containing({ page: cafe.page, _score: is.number })] }) },
      spec: 'search §3.1',
    },
    {
      name: 'a page without a total',
      request: path('sea', '&sort=year&page=2&perPage=1&skipTotal=1&fields=title'),
      expect: {
        status: 200,
        json: { data: [{ id: museum.id, title: museum.title }], page: 2, perPage: 1, totalItems: -1, totalPages: -1 },
      },
      spec: 'search §3.3',
    },
    {
      name: 'facets, the most frequent values first',
      request: path('sea garden coffee', '&searchMode=any&facets=tags,year,status&fields=id&perPage=1&sort=year'),
      expect: {
        status: 200,
        json: {
          data: [{ id: cafe.id }],
          page: 1,
          perPage: 1,
          totalItems: 4,
          totalPages: 4,
          facets: { tags: { harbour: 1, 'old town': 1 }, year: { 1: 1, 2: 1, 3: 1 }, status: {} },
          more: [],
        },
      },
      spec: 'search §4.1',
    },
    {
      name: 'the facet of a field that only some may see, to one who may',
      as: 'admin',
      request: path('vault', '&facets=note,status'),
      expect: {
        status: 200,
        json: is.containing({ facets: { note: { platypus: 1 }, status: { hidden: 1 } }, more: [] }),
      },
      spec: 'search §4.1',
    },
    {
      name: 'the facets of a hidden record',
      request: path('vault', '&facets=status'),
      expect: { status: 200, json: is.containing({ totalItems: 0, facets: { status: {} } }) },
      spec: 'search §4.1',
    },
    {
      name: 'found words in marks, as HTML',
      request: path('garden museum running', '&searchMode=any&highlight=title,body&fields=_highlight&sort=title'),
      expect: {
        status: 200,
        json: is.containing({
          data: [
            {
              id: garden.id,
              _highlight: { title: '<mark>Garden</mark>', body: 'A <mark>garden</mark> for <mark>running</mark>' },
            },
            {
              id: museum.id,
              _highlight: {
                title: '<mark>Museum</mark> of the sea',
                body: 'Ships and <mark>gardens</mark>. Open daily.',
              },
            },
          ],
        }),
      },
      spec: 'search §5.1',
    },
    {
      name: 'marks around words with accents, without the tags of an editor field',
      request: path('"cafe muller" coffee', '&highlight=title,page&fields=_highlight'),
      expect: {
        status: 200,
        json: is.containing({
          data: [
            {
              id: cafe.id,
              _highlight: {
                title: '<mark>Café</mark> <mark>Müller</mark>',
                page: is.matching(/^ *cakes &amp; +<mark>coffee<\/mark> *$/),
              },
            },
          ],
        }),
      },
      spec: 'search §5.1',
    },
    {
      name: 'a field without a found word',
      request: path('tulip', '&highlight=title,meta.sub&fields=_highlight'),
      expect: {
        status: 200,
        json: is.containing({ data: [{ id: garden.id, _highlight: { 'meta.sub': 'Rose-bed <mark>tulip</mark>' } }] }),
      },
      spec: 'search §5.1',
    },
    fails('marks in a field that is not searched', path('sea', '&highlight=note')),
    fails('the facet of a field that the caller may not see', path('sea', '&facets=note')),
    fails('an unknown facet', path('sea', '&facets=colour')),
    fails('a facet of an editor field', path('sea', '&facets=page')),
    fails('11 facets', path('sea', '&facets=a,b,c,d,e,f,g,h,i,j,k')),
    fails('a collection without a search index', path('sea', '', 'plain')),
    fails('301 characters', path('x'.repeat(301))),
    fails('11 words', path('a b c d e f g h i j k')),
    fails('an unknown mode', path('sea', '&searchMode=most')),
    fails('a field that is not searched', path('sea', '&searchFields=title,status')),
    fails('a field that the caller may not see', path('platypus', '&searchFields=note')),
    fails('a cursor', path('sea', '&cursor=')),
    fails('a vector', path('sea', '&nearVector=[1]&nearVectorField=title')),
    fails('an unknown sort', path('sea', '&sort=colour')),
    fails('an unknown field in a filter', path('sea', filter('colour = 1'))),
  ]);

  await t.test('writes are found at once, and not after their delete [search §3.4]', async () => {
    const search = async (word: string) =>
      listAt((await target.guest.get(`/api/v1/places?search=${word}`)).json, 'data').length;
    const record = await make('Aquarium');
    assert.equal(await search('aquarium'), 1);
    await admin.send('PATCH', `/api/v1/places/${record.id}`, { body: { title: 'Planetarium' } });
    assert.deepEqual([await search('aquarium'), await search('planetarium')], [0, 1]);
    await admin.send('PATCH', `/api/v1/places/${record.id}`, { body: { year: 9 } });
    assert.equal(await search('planetarium'), 1);
    await admin.send('DELETE', `/api/v1/places/${record.id}`);
    assert.equal(await search('planetarium'), 0);
  });
});
