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

onEachTopology('a view is read like any collection and is read-only', async (t, target) => {
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
      name: 'a view without created_at is in the order of id',
      request: 'GET /api/v1/per_writer',
      expect: { status: 200, json: page(byId, 2) },
      spec: 'views §3.3',
    },
    {
      name: 'a filter and a sort by computed columns',
      request: `GET /api/per_writer?sort=-stars&filter=${encodeURIComponent('articles >= 1 && name ~ "a"')}`,
      expect: { status: 200, json: page([row(ada.id, 'Ada', 3, 6)], 1) },
      spec: 'views §1.1',
    },
    {
      name: 'with the fields that the request names',
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
      spec: 'views §1.1',
    },
    {
      name: 'a sort by created, which the view does not have',
      request: 'GET /api/v1/per_writer?sort=-created',
      expect: { status: 400 },
      spec: 'views §3.3',
    },
    {
      name: 'one row, without an ETag since it has no updated',
      request: `GET /api/v1/per_writer/${bob.id}`,
      expect: { status: 200, json: { data: row(bob.id, 'Bob', 1, 4) }, headers: { etag: null } },
      spec: 'views §3.3',
    },
    {
      name: 'an unknown row',
      request: 'GET /api/v1/per_writer/nobody',
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'created_at and updated_at appear as created and updated, and the list rule filters',
      request: 'GET /api/v1/good_articles',
      expect: { status: 200, json: page([good('Four', 4, bob.id), good('Three', 3, ada.id)], 2) },
      spec: 'views §3.3',
    },
    {
      name: 'a filter over a relation of the view',
      request: `GET /api/v1/good_articles?filter=${encodeURIComponent('writer.name = "Bob"')}`,
      expect: { status: 200, json: page([good('Four', 4, bob.id)], 1) },
      spec: 'views §1.1',
    },
    {
      name: 'a row with updated has an ETag of its content',
      request: `GET /api/v1/good_articles/${last.id}`,
      expect: {
        status: 200,
        json: { data: good('Four', 4, bob.id) },
        headers: { etag: is.matching(/^W\/"[\w-]{27}"$/) },
      },
      spec: 'views §3.4',
    },
    {
      name: 'the second of the record is not the ETag of the row',
      request: `GET /api/v1/good_articles/${last.id}`,
      headers: { 'If-None-Match': `W/"${last.updated}"` },
      expect: { status: 200 },
      spec: 'views §3.4',
    },
    {
      name: 'rules that are left out admit admins only',
      request: 'GET /api/v1/closed',
      expect: refused.forbidden,
      spec: 'views §1.2',
    },
    {
      name: 'an admin passes every rule',
      as: 'admin',
      request: 'GET /api/v1/closed?perPage=1',
      expect: { status: 200, json: is.containing({ totalItems: 2, totalPages: 2 }) },
      spec: 'rules §1.3',
    },
    ...(['POST /api/v1/closed', `PATCH /api/v1/closed/${ada.id}`, `DELETE /api/v1/closed/${ada.id}`] as const).map(
      (request): Scenario => ({
        name: `${request.split(' ')[0]} on a view`,
        as: 'admin',
        request,
        ...(!request.startsWith('DELETE') && { body: { name: 'x' } }),
        expect: refused.methodNotAllowed('GET, HEAD'),
        spec: 'records §1.3',
      }),
    ),
    {
      name: 'a view over a view',
      ...create('best', 'select g.id, g.title, p.name from good_articles g join per_writer p on p.id = g.writer', open),
      expect: { status: 201, json: { data: is.containing({ name: 'best', type: 'view' }) } },
      spec: 'views §2.3',
    },
    {
      name: 'a record of a view is written',
      as: 'admin',
      request: `PATCH /api/v1/articles/${last.id}`,
      body: { title: 'Fourth' },
      expect: { status: 200 },
      events: ['articles.update'],
      spec: 'views §2.3',
    },
    {
      name: 'the view over a view shows the write at once',
      request: `GET /api/v1/best/${last.id}`,
      expect: { status: 200, json: { data: { id: last.id, title: 'Fourth', name: 'Bob' } } },
      spec: 'views §2.3',
    },
    {
      name: 'a collection that a view needs is not dropped',
      as: 'admin',
      request: 'DELETE /api/v1/collections/articles',
      expect: {
        ...refused.conflict,
        json: is.containing({ details: { blockers: is.listWith({ collection: 'per_writer' }) } }),
      },
      spec: 'views §4.2',
    },
    {
      name: 'a field that a view needs is not dropped',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles',
      body: {
        fields: [
          { name: 'title', type: 'text' },
          { name: 'writer', type: 'relation', collection: 'writers' },
        ],
      },
      expect: refused.naming('per_writer'),
      spec: 'views §4.2',
    },
    {
      name: 'a collection that a view reads is renamed',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles',
      body: { name: 'papers' },
      expect: { status: 200 },
      spec: 'views §4.1',
    },
    {
      name: 'the view follows the new name',
      request: `GET /api/v1/best/${last.id}`,
      expect: { status: 200, json: { data: { id: last.id, title: 'Fourth', name: 'Bob' } } },
      spec: 'views §4.1',
    },
    {
      name: 'a record to which a view shows a relation is deleted',
      as: 'admin',
      request: `DELETE /api/v1/writers/${bob.id}`,
      expect: { status: 200 },
      events: ['writers.delete', 'papers.update'],
      spec: 'records §7.1',
    },
  ]);
});

onEachTopology('a view with a wrong query is refused under view_query', async (t, target) => {
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
    'that is missing': [undefined, 'collections §1.5'],
    'that does not parse': ['select id form items', 'views §5.1'],
    'over an unknown collection': ['select id from nothing', 'views §5.1'],
    'of an unknown column': ['select id, colour from items', 'views §5.1'],
    'without an id': ['select title from items', 'views §3.1'],
    'whose ids are not unique': ['select title as id from items', 'views §3.1'],
    'that writes': ['with x as (delete from items returning id) select id from x', 'views §2.1'],
    'of two statements': ['select id from items; select id from items', 'views §2.1'],
    'of all columns of accounts': ['select * from people', 'views §2.4'],
    'of a password hash': ['select id, password_hash from people', 'views §2.4'],
    'that compares a password hash': ["select id from people where password_hash like '$argon2%'", 'views §2.4'],
    'of a TOTP secret': ['select id, upper(totp_secret) as s from people', 'views §2.4'],
    'of a whole account as a value': ['select id, to_jsonb(people) as p from people', 'views §2.4'],
    'over a system table': ['select id, email from system.admins', 'views §2.4'],
    'over the catalog': ['select rolname as id from pg_authid', 'views §2.4'],
    'that reads a file': ["select pg_read_file('/etc/passwd') as id", 'views §2.5'],
    'that runs another query': ["select query_to_xml('select 1', true, true, '')::text as id", 'views §2.5'],
    'that reads a setting': ["select current_setting('data_directory') as id", 'views §2.5'],
    'that sleeps': ['select id from items, pg_sleep(60)', 'views §2.5'],
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
      name: 'a query of fields of an auth collection that are not secret',
      ...create('names', 'select id, nick, verified from people', open),
      expect: { status: 201 },
      spec: 'views §2.2',
    },
    {
      name: 'a query on a base collection',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: { name: 'wrong', type: 'base', view_query: 'select 1' },
      expect: refused.invalid('view_query'),
      spec: 'collections §1.5',
    },
    {
      name: 'a rule that names a column which the query does not give',
      ...create('wrong', 'select id from items', { list_rule: 'title = "a"' }),
      expect: refused.invalid('list_rule'),
      spec: 'views §4.3',
    },
  ]);
});

onEachTopology('the query of a view uses the names that records show', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'named_people', type: 'auth', fields: [] });
  const person = await admin.create('named_people', {
    email: 'ada@example.com',
    password: 'correct horse battery staple',
  });
  const spec = 'views §2.2';
  const gives = (name: string, query: string): Scenario => ({
    name: `${query}: is created`,
    ...create(name, query, open),
    expect: { status: 201 },
    spec,
  });
  const shown = { id: person.id, anonymous: false, created: person.created, updated: person.updated };
  const shows = (name: string): Scenario => ({
    name: `${name} shows the members of records`,
    request: `GET /api/v1/${name}?filter=created>0&sort=-anonymous`,
    expect: { status: 200, json: is.containing({ data: [shown] }) },
    spec,
  });
  await runScenarios(t, target, [
    gives('own_names', 'select p.id, p.anonymous, p.created, p.updated from named_people p order by created'),
    shows('own_names'),
    gives('column_names', 'select id, is_anonymous, created_at, updated_at from named_people'),
    shows('column_names'),
    gives('over_view', 'select id, anonymous, created, updated from own_names where created > 0'),
    shows('over_view'),
    ...['p.anonymus', 'p.passwordhash', 'p.creatd', 'p.totp_secrt'].map(
      (column): Scenario => ({
        name: `${column}: the refusal suggests no column`,
        ...create('wrong', `select p.id, ${column} from named_people p`),
        expect: { status: 422, json: is.containing({ details: { view_query: `column ${column} does not exist` } }) },
        spec,
      }),
    ),
  ]);
});
