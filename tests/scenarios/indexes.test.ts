import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

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

onEachTopology('an admin makes and drops indexes', async (t, target) => {
  const admin = await target.admin();
  const text = (name: string, options: object = {}) => ({ name, type: 'text', options });
  const fields = [text('isbn', { unique: true }), text('title'), text('shelf'), { name: 'year', type: 'number' }];
  const { id: collectionId } = await admin.post('/api/v1/collections', { name: 'books', type: 'base', fields });
  await admin.create('books', { title: 'Sea', shelf: 'a', year: 1 });
  const second = await admin.create('books', { title: 'Sea', shelf: 'b', year: 2 });
  await admin.post('/api/v1/collections', { name: 'titles', type: 'view', view_query: 'select id, title from books' });
  await runScenarios(t, target, [
    {
      name: 'those that the system needs are listed',
      as: 'admin',
      request: `GET ${path}`,
      expect: { status: 200, json: { data: needed } },
      spec: 'contract §7',
    },
    {
      name: 'over a field and a system column',
      ...make({ name: 'by_year', columns: ['year', 'created_at'] }),
      expect: { status: 201, json: { data: shown('by_year', ['year', 'created_at']) } },
      spec: 'interface §4.2',
    },
    {
      name: 'a unique one over two fields',
      ...make({ name: 'one_place', columns: ['title', 'shelf'], unique: true }),
      expect: { status: 201, json: { data: shown('one_place', ['title', 'shelf'], { unique: true }) } },
      spec: 'interface §4.2',
    },
    {
      name: 'one for substrings',
      ...make({ name: 'in_title', columns: ['title'], type: 'trigram' }),
      expect: { status: 201, json: { data: shown('in_title', ['title'], { type: 'trigram' }) } },
      spec: 'docs/collections',
    },
    {
      name: 'which filters go on without noticing',
      request: `GET /api/v1/books?skipTotal=1&filter=${encodeURIComponent('title ~ "EA"')}`,
      expect: {
        status: 200,
        json: is.containing({ data: [is.containing({ shelf: 'b' }), is.containing({ shelf: 'a' })] }),
      },
      spec: 'contract §2',
    },
    {
      name: 'a record that breaks a unique one names its columns',
      request: 'POST /api/v1/books',
      body: { title: 'Sea', shelf: 'a' },
      expect: refused.invalid('title', 'shelf'),
      spec: 'contract §8',
    },
    {
      name: 'so does a change that does',
      request: `PATCH /api/v1/books/${second.id}`,
      body: { shelf: 'a' },
      expect: refused.invalid('title', 'shelf'),
      spec: 'contract §8',
    },
    ...(['', null] as const).map(
      (shelf): Scenario => ({
        name: `unique compares no ${JSON.stringify(shelf)}`,
        request: 'POST /api/v1/books',
        body: { title: 'Sea', shelf },
        expect: { status: 201 },
        events: ['books.create'],
        spec: 'contract §8, Empty values',
      }),
    ),
    {
      name: 'a text that is too large for one',
      ...make({ name: 'by_shelf', columns: ['shelf'] }),
      expect: { status: 201 },
      spec: 'interface §4.2',
    },
    {
      name: 'is refused, and its field named',
      request: 'POST /api/v1/books',
      body: {
        shelf: Array.from({ length: 20_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000))).join(''),
      },
      expect: refused.naming('shelf'),
      spec: 'contract §8',
    },
    {
      name: 'a unique one over values that are there twice',
      ...make({ name: 'one_title', columns: ['title'], unique: true }),
      expect: refused.conflict,
      spec: 'contract §7',
    },
    {
      name: 'a name that is taken, in other case',
      ...make({ name: 'BY_year', columns: ['title'] }),
      expect: refused.conflict,
      spec: 'contract §7',
    },
    ...Object.entries({
      'an unknown column': ['columns', { name: 'bad', columns: ['title', 'colour'] }],
      'no columns': ['columns', { name: 'bad', columns: [] }],
      'a column twice': ['columns', { name: 'bad', columns: ['title', 'title'] }],
      'columns that are no list': ['columns', { name: 'bad', columns: 'title' }],
      'a name that is none': ['name', { name: 'a b', columns: ['title'] }],
      'no name': ['name', { columns: ['title'] }],
      'unique that is no boolean': ['unique', { name: 'bad', columns: ['title'], unique: 'yes' }],
      'an unknown type': ['type', { name: 'bad', columns: ['title'], type: 'hash' }],
      'substrings of numbers': ['columns', { name: 'bad', columns: ['year'], type: 'trigram' }],
      'an unknown key': ['where', { name: 'bad', columns: ['title'], where: 'x' }],
    } as const).map(
      ([what, [named, body]]): Scenario => ({
        name: `with ${what}`,
        ...make(body),
        expect: refused.invalid(named),
        spec: 'contract §7',
      }),
    ),
    {
      name: 'on a view',
      as: 'admin',
      request: 'POST /api/v1/admin/collections/titles/indexes',
      body: { name: 'bad', columns: ['title'] },
      expect: refused.invalid('name'),
      spec: 'contract §8',
    },
    {
      name: 'of a collection that is not there',
      as: 'admin',
      request: 'GET /api/v1/admin/collections/nothing/indexes',
      expect: refused.notFound,
      spec: 'contract §7',
    },
    {
      name: 'they follow the names of fields and of the collection',
      as: 'admin',
      request: 'PATCH /api/v1/collections/books',
      body: { name: 'volumes' },
      expect: { status: 200 },
      spec: 'contract §8',
    },
    {
      name: 'and are found by the id of the collection as well',
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
      spec: 'contract §7',
    },
    {
      name: 'one is dropped',
      as: 'admin',
      request: 'DELETE /api/v1/admin/collections/volumes/indexes/one_place',
      expect: { status: 200, json: { data: null } },
      spec: 'interface §4.2',
    },
    {
      name: 'once',
      as: 'admin',
      request: 'DELETE /api/v1/admin/collections/volumes/indexes/one_place',
      expect: refused.notFound,
      spec: 'contract §7',
    },
    {
      name: 'after which nothing stands against the record',
      request: `PATCH /api/v1/volumes/${second.id}`,
      body: { shelf: 'a' },
      expect: { status: 200 },
      events: ['volumes.update'],
      spec: 'contract §7',
    },
    {
      name: 'one that the system needs is not',
      as: 'admin',
      request: 'DELETE /api/v1/admin/collections/volumes/indexes/system%3Aisbn',
      expect: refused.conflict,
      spec: 'contract §7',
    },
    {
      name: 'a dropped field takes its indexes along',
      as: 'admin',
      request: 'PATCH /api/v1/collections/volumes',
      body: { fields: fields.filter(({ name }) => name !== 'year') },
      expect: { status: 200 },
      spec: 'docs/collections',
    },
    {
      name: 'and no others',
      as: 'admin',
      request: 'GET /api/v1/admin/collections/volumes/indexes',
      expect: {
        status: 200,
        json: { data: [...needed, shown('in_title', ['title'], { type: 'trigram' }), shown('by_shelf', ['shelf'])] },
      },
      spec: 'docs/collections',
    },
    { name: 'a guest', request: `GET ${path}`, expect: refused.unauthenticated, spec: 'interface §4.2' },
    { name: 'a user', as: 'user', request: `POST ${path}`, body: {}, expect: refused.forbidden, spec: 'contract §1' },
  ]);
});
