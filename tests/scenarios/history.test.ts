import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { numberAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { pathsOf, unknownId } from './blog.ts';
import { admin, define, guest, historyOf, relation, rowsOf, text, user } from './history-rows.ts';

onEachTopology('each write adds a row to the history', async (t, target) => {
  const root = await target.admin();
  await define(root, 'drafts', [text('title')]);
  await root.post('/api/v1/collections', { name: 'forgetful', type: 'base', fields: [text('title')] });
  const client = await target.user();
  const first = await target.guest.create('drafts', { title: 'one' });
  const path = `/api/v1/drafts/${first.id}`;
  const second = await client.patch(path, { title: 'two' });
  const created = { op: 'create', snapshot: first, ...guest, at: first.updated };
  const updated = { op: 'update', snapshot: second, ...user, at: second.updated };
  const deleted = { op: 'delete', snapshot: { ...second, updated: is.now }, ...admin, at: is.now };
  const forgotten = await target.guest.create('forgetful', { title: 'x' });
  const none = await target.guest.create('drafts', { title: 'other' });
  await runScenarios(t, target, [
    ...pathsOf('drafts').map(
      (collection): Scenario => ({
        name: `GET ${collection}/:id/history, newest first, with the actors`,
        request: `GET ${collection}/${first.id}/history`,
        expect: historyOf(updated, created),
        spec: 'history §3.1',
      }),
    ),
    {
      name: 'the second page of one row each',
      request: `GET ${path}/history?page=2&perPage=1`,
      expect: {
        status: 200,
        json: {
          data: {
            data: [{ id: is.uuid, version: is.version, ...created }],
            page: 2,
            perPage: 1,
            totalItems: 2,
            totalPages: 2,
          },
        },
      },
      spec: 'history §3.1',
    },
    {
      name: 'a page past the end',
      request: `GET ${path}/history?page=3`,
      expect: { status: 200, json: { data: { data: [], page: 3, perPage: 50, totalItems: 2, totalPages: 1 } } },
      spec: 'history §3.1',
    },
    {
      name: 'a page that is not a number',
      request: `GET ${path}/history?page=two`,
      expect: refused.malformedWith({ page: is.text }),
      spec: 'http §3.3',
    },
    {
      name: 'a delete',
      as: 'admin',
      request: `DELETE ${path}`,
      expect: { status: 200, json: { data: null } },
      events: ['drafts.delete'],
      spec: 'history §2.2',
    },
    {
      name: 'the history of a deleted record',
      request: `GET ${path}/history`,
      expect: historyOf(deleted, updated, created),
      spec: 'history §3.2',
    },
    {
      name: 'a refused write',
      request: `PATCH /api/v1/drafts/${none.id}`,
      body: { nothing: 1 },
      expect: refused.invalid('nothing'),
      spec: 'history §2.2',
    },
    {
      name: 'the history after a refused write',
      request: `GET /api/v1/drafts/${none.id}/history`,
      expect: historyOf({ op: 'create', snapshot: none, ...guest, at: none.updated }),
      spec: 'history §2.2',
    },
    ...[
      ['an unknown record', `/api/v1/drafts/${unknownId}`],
      ['a collection without history', `/api/v1/forgetful/${forgotten.id}`],
      ['an unknown collection', `/api/v1/nowhere/${first.id}`],
    ].map(
      ([name = '', at = '']): Scenario => ({
        name,
        request: `GET ${at}/history`,
        expect: refused.notFound,
        spec: 'history §3.3',
      }),
    ),
    {
      name: 'another method',
      request: `POST ${path}/history`,
      body: {},
      expect: refused.methodNotAllowed('GET, HEAD'),
      spec: 'http §1.3',
    },
  ]);
});

onEachTopology('a cascade adds a row for each record that it reaches', async (t, target) => {
  const root = await target.admin();
  await define(root, 'shelves', [text('name')]);
  await define(root, 'books', [relation('shelf', 'shelves', 'cascade'), relation('loan', 'shelves')]);
  await define(root, 'pages', [relation('book', 'books', 'cascade')]);
  const { guest: anyone } = target;
  const shelf = await anyone.create('shelves', { name: 'a' });
  const other = await anyone.create('shelves', { name: 'b' });
  const book = await anyone.create('books', { shelf: shelf.id });
  const lent = await anyone.create('books', { shelf: other.id, loan: shelf.id });
  const page = await anyone.create('pages', { book: book.id });
  await runScenarios(t, target, [
    {
      name: 'a delete with its cascade',
      as: 'user',
      request: `DELETE /api/v1/shelves/${shelf.id}`,
      expect: { status: 200 },
      events: ['shelves.delete', 'books.delete', 'pages.delete', 'books.update'],
      spec: 'records §7.3',
    },
  ]);
  await t.test('each cascaded delete and each setNull is a separate write [history §2.2]', async () => {
    for (const [path, op, snapshot] of [
      [`shelves/${shelf.id}`, 'delete', { name: 'a' }],
      [`books/${book.id}`, 'delete', { shelf: shelf.id }],
      [`pages/${page.id}`, 'delete', { book: book.id }],
      [`books/${lent.id}`, 'update', { shelf: other.id, loan: null }],
    ] as const) {
      const [last, first, ...more] = await rowsOf(root, `/api/v1/${path}`);
      assert.deepEqual(
        [last?.op, last?.actor_id, first?.op, more.length],
        [op, (await target.user()).id, 'create', 0],
        path,
      );
      assert.equal(is.containing({ ...snapshot, updated: last?.at }).fits(last?.snapshot), true, path);
      assert.ok(numberAt(last, 'at') >= numberAt(first, 'at') && last?.version !== first?.version, path);
    }
  });
});

onEachTopology('a row outlives its actor', async (t, target) => {
  const root = await target.admin();
  await define(root, 'survivors', [text('title')]);
  const account = { email: 'leaver@example.com', password: 'correct horse battery staple' };
  const leaver = await root.post('/api/v1/admin/admins', account);
  const { token } = await target.guest.post('/api/v1/admin/login', account, 200);
  const record = await createClient(target.url, String(token)).create('survivors', { title: 'x' });
  await root.delete(`/api/v1/admin/admins/${leaver.id}`);
  const row = { op: 'create', snapshot: record, actor_id: leaver.id, actor_type: 'admin', at: record.updated };
  await runScenarios(t, target, [
    {
      name: 'the row of an actor who is deleted',
      request: `GET /api/v1/survivors/${record.id}/history`,
      expect: historyOf(row),
      spec: 'history §2.3',
    },
  ]);
});
