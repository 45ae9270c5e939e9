import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/admin/collections/books/indexes';

const make = (body: object): Pick<Scenario, 'as' | 'request' | 'body'> => ({
  as: 'admin',
  request: `POST ${path}`,
  body,
});

const shown = (name: string, columns: readonly string[], more: object = {}) => ({
  name,
  columns,
  unique: false,
  type: 'btree',
  system: false,
  ...more,
});

const needed = [
  shown('system:id', ['id'], { unique: true, system: true }),
  shown('system:created', ['created_at', 'id'], { system: true }),
  shown('system:isbn', ['isbn'], { unique: true, system: true }),
];

onEachTopology('an admin creates and drops indexes', async (t, target) => {
  const admin = await target.admin();
  const text = (name: string, options: object = {}) => ({ name, type: 'text', options });
  const fields = [text('isbn', { unique: true }), text('title'), text('shelf'), { name: 'year', type: 'number' }];
  const { id: collectionId } = await admin.post('/api/v1/collections', { name: 'books', type: 'base', fields });
  await admin.create('books', { title: 'Sea', shelf: 'a', year: 1 });
  const second = await admin.create('books', { title: 'Sea', shelf: 'b', year: 2 });
  await admin.post('/api/v1/collections', { name: 'titles', type: 'view', view_query: 'select id, title from books' });
  await runScenarios(t, target, [
    {
      name: 'the list with system indexes',
      as: 'admin',
      request: `GET ${path}`,
      expect: { status: 200, json: { data: needed } },
      spec: 'collections §10.5',
    },
    {
      name: 'an index over a field and a system column',
      ...make({ name: 'by_year', columns: ['year', 'created_at'] }),
      expect: { status: 201, json: { data: shown('by_year', ['year', 'created_at']) } },
      spec: 'collections §10.2',
    },
    {
      name: 'a unique index over two fields',
      ...make({ name: 'one_place', columns: ['title', 'shelf'], unique: true }),
      expect: { status: 201, json: { data: shown('one_place', ['title', 'shelf'], { unique: true }) } },
      spec: 'collections §10.2',
    },
    {
      name: 'a trigram index',
      ...make({ name: 'in_title', columns: ['title'], type: 'trigram' }),
      expect: { status: 201, json: { data: shown('in_title', ['title'], { type: 'trigram' }) } },
      spec: 'collections §10.4',
    },
    {
      name: 'a filter with a trigram index',
      request: `GET /api/v1/books?skipTotal=1&filter=${encodeURIComponent('title ~ "EA"')}`,
      expect: {
        status: 200,
        json: is.containing({ data: [is.containing({ shelf: 'b' }), is.containing({ shelf: 'a' })] }),
      },
      spec: 'collections §10.4',
    },
    {
      name: 'a create that violates a unique index',
      request: 'POST /api/v1/books',
      body: { title: 'Sea', shelf: 'a' },
      expect: refused.invalid('title', 'shelf'),
      spec: 'collections §10.3',
    },
    {
      name: 'an update that violates a unique index',
      request: `PATCH /api/v1/books/${second.id}`,
      body: { shelf: 'a' },
      expect: refused.invalid('title', 'shelf'),
      spec: 'collections §10.3',
    },
    ...(['', null] as const).map(
      (shelf): Scenario => ({
        name: `the same values with ${JSON.stringify(shelf)}, which unique ignores`,
        request: 'POST /api/v1/books',
        body: { title: 'Sea', shelf },
        expect: { status: 201 },
        events: ['books.create'],
        spec: 'collections §10.3',
      }),
    ),
    {
      name: 'an index over a text that is too large for it',
      ...make({ name: 'by_shelf', columns: ['shelf'] }),
      expect: { status: 201 },
      spec: 'collections §10.2',
    },
    {
      name: 'a text that is too large for its index',
      request: 'POST /api/v1/books',
      body: {
        shelf: Array.from({ length: 20_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000))).join(''),
      },
      expect: refused.naming('shelf'),
      spec: 'collections §10.3',
    },
    {
      name: 'a unique index over duplicate values',
      ...make({ name: 'one_title', columns: ['title'], unique: true }),
      expect: refused.conflict,
      spec: 'collections §10.3',
    },
    {
      name: 'a taken name in another case',
      ...make({ name: 'BY_year', columns: ['title'] }),
      expect: refused.conflict,
      spec: 'collections §10.2',
    },
    ...Object.entries({
      'an unknown column': ['columns', { name: 'bad', columns: ['title', 'colour'] }],
      'an empty list of columns': ['columns', { name: 'bad', columns: [] }],
      'half a million columns': ['columns', { name: 'bad', columns: new Array(500_000).fill(0) }],
      'a column twice': ['columns', { name: 'bad', columns: ['title', 'title'] }],
      'columns that are not a list': ['columns', { name: 'bad', columns: 'title' }],
      'an invalid name': ['name', { name: 'a b', columns: ['title'] }],
      'a missing name': ['name', { columns: ['title'] }],
      'unique that is not a boolean': ['unique', { name: 'bad', columns: ['title'], unique: 'yes' }],
      'an unknown type': ['type', { name: 'bad', columns: ['title'], type: 'hash' }],
      'a trigram index over numbers': ['columns', { name: 'bad', columns: ['year'], type: 'trigram' }],
      'an unknown key': ['where', { name: 'bad', columns: ['title'], where: 'x' }],
    } as const).map(
      ([what, [named, body]]): Scenario => ({
        name: `with ${what}`,
        ...make(body),
        expect: refused.invalid(named),
        spec: 'collections §10.2',
      }),
    ),
    {
      name: 'an index on a view',
      as: 'admin',
      request: 'POST /api/v1/admin/collections/titles/indexes',
      body: { name: 'bad', columns: ['title'] },
      expect: refused.invalid('name'),
      spec: 'collections §10.2',
    },
    {
      name: 'an index on an unknown collection',
      as: 'admin',
      request: 'GET /api/v1/admin/collections/nothing/indexes',
      expect: refused.notFound,
      spec: 'collections §10.1',
    },
    {
      name: 'renamed fields and a renamed collection',
      as: 'admin',
      request: 'PATCH /api/v1/collections/books',
      body: { name: 'volumes' },
      expect: { status: 200 },
      spec: 'collections §10.6',
    },
    {
      name: 'the list by the id of the collection',
      as: 'admin',
      request: `GET /api/v1/admin/collections/${collectionId}/indexes`,
      expect: {
        status: 200,
        json: {
          data: [
            ...needed,
            shown('by_year', ['year', 'created_at']),
            shown('one_place', ['title', 'shelf'], { unique: true }),
            shown('in_title', ['title'], { type: 'trigram' }),
            shown('by_shelf', ['shelf']),
          ],
        },
      },
      spec: 'collections §10.6',
    },
    {
      name: 'a drop of an index',
      as: 'admin',
      request: 'DELETE /api/v1/admin/collections/volumes/indexes/one_place',
      expect: { status: 200, json: { data: null } },
      spec: 'collections §10.1',
    },
    {
      name: 'a second drop',
      as: 'admin',
      request: 'DELETE /api/v1/admin/collections/volumes/indexes/one_place',
      expect: refused.notFound,
      spec: 'collections §10.1',
    },
    {
      name: 'the same values without the unique index',
      request: `PATCH /api/v1/volumes/${second.id}`,
      body: { shelf: 'a' },
      expect: { status: 200 },
      events: ['volumes.update'],
      spec: 'collections §10.3',
    },
    {
      name: 'a drop of a system index',
      as: 'admin',
      request: 'DELETE /api/v1/admin/collections/volumes/indexes/system%3Aisbn',
      expect: refused.conflict,
      spec: 'collections §10.5',
    },
    {
      name: 'a drop of a field with an index',
      as: 'admin',
      request: 'PATCH /api/v1/collections/volumes',
      body: { fields: fields.filter(({ name }) => name !== 'year') },
      expect: { status: 200 },
      spec: 'collections §10.6',
    },
    {
      name: 'the list with the remaining indexes',
      as: 'admin',
      request: 'GET /api/v1/admin/collections/volumes/indexes',
      expect: {
        status: 200,
        json: { data: [...needed, shown('in_title', ['title'], { type: 'trigram' }), shown('by_shelf', ['shelf'])] },
      },
      spec: 'collections §10.6',
    },
    { name: 'a guest', request: `GET ${path}`, expect: refused.unauthenticated, spec: 'http §6.2' },
    { name: 'a user', as: 'user', request: `POST ${path}`, body: {}, expect: refused.forbidden, spec: 'http §6.3' },
  ]);
});
