import type { Client } from '../harness/clients/client.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createView, open } from './view-definitions.ts';

async function createArticles(admin: Client) {
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

onEachTopology('a view is read like any collection, and cannot be written', async (t, target) => {
  const admin = await target.admin();
  const { ada, bob, last } = await createArticles(admin);
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
      name: 'a view without created_at, in the order of id',
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
      name: 'selected fields without a total',
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
      name: 'a sort by created, which the view lacks',
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
      name: "the record's version, which is not the ETag of the row",
      request: `GET /api/v1/good_articles/${last.id}`,
      headers: { 'If-None-Match': `W/"${last.updated}"` },
      expect: { status: 200 },
      spec: 'views §3.4',
    },
    {
      name: 'a guest, where rules are left out',
      request: 'GET /api/v1/closed',
      expect: refused.forbidden,
      spec: 'views §1.2',
    },
    {
      name: 'an admin, who passes every rule',
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
      ...createView(
        'best',
        'select g.id, g.title, p.name from good_articles g join per_writer p on p.id = g.writer',
        open,
      ),
      expect: { status: 201, json: { data: is.containing({ name: 'best', type: 'view' }) } },
      spec: 'views §2.3',
    },
    {
      name: 'a write of a record that the view shows',
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
      name: 'a drop of a collection that a view reads',
      as: 'admin',
      request: 'DELETE /api/v1/collections/articles',
      expect: {
        ...refused.conflict,
        json: is.containing({ details: { blockers: is.listWith({ collection: 'per_writer' }) } }),
      },
      spec: 'views §4.2',
    },
    {
      name: 'a drop of a field that a view reads',
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
      name: 'a new name for a collection that a view reads',
      as: 'admin',
      request: 'PATCH /api/v1/collections/articles',
      body: { name: 'papers' },
      expect: { status: 200 },
      spec: 'views §4.1',
    },
    {
      name: 'the view under the new name',
      request: `GET /api/v1/best/${last.id}`,
      expect: { status: 200, json: { data: { id: last.id, title: 'Fourth', name: 'Bob' } } },
      spec: 'views §4.1',
    },
    {
      name: 'a delete of a record that a view refers to',
      as: 'admin',
      request: `DELETE /api/v1/writers/${bob.id}`,
      expect: { status: 200 },
      events: ['writers.delete', 'papers.update'],
      spec: 'records §7.1',
    },
  ]);
});
