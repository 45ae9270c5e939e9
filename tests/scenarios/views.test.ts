import type { Client } from '../harness/client.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

const create = (name: string, viewQuery: unknown, more: object = {}): Pick<Scenario, 'as' | 'request' | 'body'> => ({
  as: 'admin',
  request: 'POST /api/v1/collections',
  body: { name, type: 'view', view_query: viewQuery, ...more },
});

const open = { list_rule: null, view_rule: null };

async function givenPosts(admin: Client) {
  const text = (name: string) => ({ name, type: 'text' });
  await admin.post('/api/v1/collections', { name: 'writers', type: 'base', fields: [text('name')] });
  const fields = [
    text('title'),
    { name: 'stars', type: 'number' },
    { name: 'writer', type: 'relation', collection: 'writers' },
  ];
  await admin.post('/api/v1/collections', { name: 'articles', type: 'base', fields });
  const ada = await admin.create('writers', { name: 'Ada' });
  const bob = await admin.create('writers', { name: 'Bob' });
  for (const [title, stars] of [
    ['One', 1],
    ['Two', 2],
    ['Three', 3],
  ] as const)
    await admin.create('articles', { title, stars, writer: ada.id });
  const last = await admin.create('articles', { title: 'Four', stars: 4, writer: bob.id });
  return { ada, bob, last };
}

onEachTopology('a view is read like any collection, and not written', async (t, target) => {
  const admin = await target.admin();
  const { ada, bob, last } = await givenPosts(admin);
  const perWriter = `select w.id, w.name, count(a.id) as articles, sum(a.stars) as stars
    from writers w left join articles a on a.writer = w.id group by w.id`;
  await admin.post('/api/v1/collections', { name: 'per_writer', type: 'view', view_query: perWriter, ...open });
  await admin.post('/api/v1/collections', {
    name: 'good_articles',
    type: 'view',
    view_query: 'select id, title, stars, writer, created_at, updated_at from articles where stars > 1',
    list_rule: 'stars > 2',
    view_rule: 'stars > 3',
  });
  await admin.post('/api/v1/collections', { name: 'closed', type: 'view', view_query: 'select id from writers' });
  const row = (id: string, name: string, articles: number, stars: number) => ({ id, name, articles, stars });
  const page = (data: unknown, totalItems: number) => ({
    data,
    page: 1,
    perPage: 30,
    totalItems,
    totalPages: totalItems && 1,
  });
  const byId = [row(ada.id, 'Ada', 3, 6), row(bob.id, 'Bob', 1, 4)].sort((a, b) => (a.id < b.id ? -1 : 1));
  const good = (title: string, stars: number, writer: string) => ({
    id: is.uuidV7,
    title,
    stars,
    writer,
    created: is.now,
    updated: is.now,
  });
  await runScenarios(t, target, [
    {
      name: 'without created_at it is sorted by id',
      request: 'GET /api/v1/per_writer',
      expect: { status: 200, json: page(byId, 2) },
      spec: 'contract §8, Views',
    },
    {
      name: 'filtered and sorted by what is reckoned',
      request: `GET /api/per_writer?sort=-stars&filter=${encodeURIComponent('articles >= 1 && name ~ "a"')}`,
      expect: { status: 200, json: page([row(ada.id, 'Ada', 3, 6)], 1) },
      spec: 'interface §4.5',
    },
    {
      name: 'with the fields that are asked for',
      request: 'GET /api/v1/records/per_writer?sort=name&fields=stars&skipTotal=1',
      expect: {
        status: 200,
        json: {
          ...page(
            [
              { id: ada.id, stars: 6 },
              { id: bob.id, stars: 4 },
            ],
            -1,
          ),
          totalPages: -1,
        },
      },
      spec: 'interface §4.5',
    },
    {
      name: 'by a time that it does not have',
      request: 'GET /api/v1/per_writer?sort=-created',
      expect: { status: 400 },
      spec: 'contract §8, Views',
    },
    {
      name: 'one row, which has no ETag since it has no updated',
      request: `GET /api/v1/per_writer/${bob.id}`,
      expect: { status: 200, json: { data: row(bob.id, 'Bob', 1, 4) }, headers: { etag: null } },
      spec: 'contract §2',
    },
    {
      name: 'a row that is not there',
      request: 'GET /api/v1/per_writer/nobody',
      expect: refused.notFound,
      spec: 'interface §4.5',
    },
    {
      name: 'created_at and updated_at appear as created and updated, and the list rule chooses',
      request: 'GET /api/v1/good_articles',
      expect: { status: 200, json: page([good('Four', 4, bob.id), good('Three', 3, ada.id)], 2) },
      spec: 'contract §8, Views',
    },
    {
      name: 'a filter over a relation of the view',
      request: `GET /api/v1/good_articles?filter=${encodeURIComponent('writer.name = "Bob"')}`,
      expect: { status: 200, json: page([good('Four', 4, bob.id)], 1) },
      spec: 'contract §2',
    },
    {
      name: 'a row with updated has an ETag',
      request: `GET /api/v1/good_articles/${last.id}`,
      expect: { status: 200, json: { data: good('Four', 4, bob.id) }, headers: { etag: `W/"${last.updated}"` } },
      spec: 'contract §2',
    },
    {
      name: 'which spares it the second time',
      request: `GET /api/v1/good_articles/${last.id}`,
      headers: { 'If-None-Match': `W/"${last.updated}"` },
      expect: { status: 304 },
      spec: 'interface §4.5',
    },
    {
      name: 'rules left out are for admins only',
      request: 'GET /api/v1/closed',
      expect: refused.forbidden,
      spec: 'interface §2.1',
    },
    {
      name: 'whom every rule lets through',
      as: 'admin',
      request: 'GET /api/v1/closed?perPage=1',
      expect: { status: 200, json: is.containing({ totalItems: 2, totalPages: 2 }) },
      spec: 'contract §1',
    },
    ...(['POST /api/v1/closed', `PATCH /api/v1/closed/${ada.id}`, `DELETE /api/v1/closed/${ada.id}`] as const).map(
      (request): Scenario => ({
        name: `${request.split(' ')[0]} on a view`,
        as: 'admin',
        request,
        ...(!request.startsWith('DELETE') && { body: { name: 'x' } }),
        expect: refused.methodNotAllowed('GET, HEAD'),
        spec: 'contract §8, Reads',
      }),
    ),
    {
      name: 'a view over a view',
      ...create('best', 'select g.id, g.title, p.name from good_articles g join per_writer p on p.id = g.writer', open),
      expect: { status: 201, json: { data: is.containing({ name: 'best', type: 'view' }) } },
      spec: 'contract §8, Views',
    },
    {
      name: 'which follows what is written',
      as: 'admin',
      request: `PATCH /api/v1/articles/${last.id}`,
      body: { title: 'Fourth' },
      expect: { status: 200 },
      events: ['articles.update'],
      spec: 'contract §8, Views',
    },
    {
      name: 'at once',
      request: `GET /api/v1/best/${last.id}`,
      expect: { status: 200, json: { data: { id: last.id, title: 'Fourth', name: 'Bob' } } },
      spec: 'contract §8, Views',
    },
    {
      name: 'a collection that a view needs is not dropped',
      as: 'admin',
      request: 'DELETE /api/v1/collections/articles',
      expect: {
        ...refused.conflict,
        json: is.containing({ details: { blockers: is.listWith({ collection: 'per_writer' }) } }),
      },
      spec: 'contract §8',
    },
    {
      name: 'nor a field of it',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles',
      body: {
        fields: [
          { name: 'title', type: 'text' },
          { name: 'writer', type: 'relation', collection: 'writers' },
        ],
      },
      expect: refused.naming('per_writer'),
      spec: 'contract §8',
    },
    {
      name: 'a collection that a view reads may be called otherwise',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles',
      body: { name: 'papers' },
      expect: { status: 200 },
      spec: 'contract §8',
    },
    {
      name: 'and the view follows',
      request: `GET /api/v1/best/${last.id}`,
      expect: { status: 200, json: { data: { id: last.id, title: 'Fourth', name: 'Bob' } } },
      spec: 'contract §8',
    },
    {
      name: 'deleting a record to which a view shows a relation',
      as: 'admin',
      request: `DELETE /api/v1/writers/${bob.id}`,
      expect: { status: 200 },
      events: ['writers.delete', 'papers.update'],
      spec: 'interface §2.2',
    },
  ]);
});

onEachTopology('a view whose query is wrong is refused, and the query named', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'items',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'other', type: 'text' },
    ],
  });
  await admin.create('items', { title: 'a' });
  await admin.create('items', { title: 'a' });
  await admin.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [{ name: 'nick', type: 'text' }] });
  const wrong: Record<string, readonly [query: unknown, spec: string]> = {
    'that is missing': [undefined, 'interface §2.1'],
    'that does not parse': ['select id form items', 'interface §7'],
    'over a collection that is not there': ['select id from nothing', 'interface §7'],
    'of an unknown column': ['select id, colour from items', 'interface §7'],
    'without an id': ['select title from items', 'contract §2'],
    'whose ids are not unique': ['select title as id from items', 'contract §8, Views'],
    'that writes': ['with x as (delete from items returning id) select id from x', 'contract §2'],
    'that is two': ['select id from items; select id from items', 'contract §2'],
    'of everything of an account': ['select * from people', 'contract §2'],
    'of the hash of a password': ['select id, password_hash from people', 'contract §2'],
    'that tests the hash of a password': ["select id from people where password_hash like '$argon2%'", 'contract §2'],
    'of a TOTP secret': ['select id, upper(totp_secret) as s from people', 'contract §2'],
    'of a whole account': ['select id, to_jsonb(people) as p from people', 'contract §2'],
    'over a system table': ['select id, email from system.admins', 'contract §2'],
    'over the catalog': ['select rolname as id from pg_authid', 'contract §2'],
    'that reads a file': ["select pg_read_file('/etc/passwd') as id", 'contract §8, Views'],
    'that runs another query': ["select query_to_xml('select 1', true, true, '')::text as id", 'contract §8, Views'],
    'that reads a setting': ["select current_setting('data_directory') as id", 'contract §8, Views'],
    'that sleeps': ['select id from items, pg_sleep(60)', 'contract §8, Views'],
  };
  await runScenarios(t, target, [
    ...Object.entries(wrong).map(
      ([what, [query, spec]]): Scenario => ({
        name: `a query ${what}`,
        ...create('wrong', query),
        expect: refused.invalid('view_query'),
        spec,
      }),
    ),
    {
      name: 'the names of an auth collection that are no secret',
      ...create('names', 'select id, nick, verified from people', open),
      expect: { status: 201 },
      spec: 'contract §2',
    },
    {
      name: 'a query on a base collection',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: { name: 'wrong', type: 'base', view_query: 'select 1' },
      expect: refused.invalid('view_query'),
      spec: 'contract §8',
    },
    {
      name: 'a rule about a column that it does not give',
      ...create('wrong', 'select id from items', { list_rule: 'title = "a"' }),
      expect: refused.invalid('list_rule'),
      spec: 'contract §8',
    },
  ]);
});
