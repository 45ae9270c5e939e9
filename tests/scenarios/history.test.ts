import assert from 'node:assert/strict';
import { createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { numberAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';
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
      name: 'the history of a deleted record has all of it',
      request: `GET ${path}/history`,
      expect: historyOf(deleted, updated, created),
      spec: 'history §3.2',
    },
    {
      name: 'a refused write leaves none',
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

onEachTopology('the view rule of a record decides about its history', async (t, target) => {
  const root = await target.admin();
  await define(root, 'circles', [text('open')]);
  const viewRule = 'owner = @request.auth.id || circle.open = "yes"';
  await define(root, 'letters', [text('owner'), relation('circle', 'circles')], { view_rule: viewRule });
  await define(root, 'vault', [text('title')], { view_rule: '' });
  const circle = await root.create('circles', { open: 'yes' });
  const seen = (name: string, path: string, statuses: Readonly<Record<'guest' | 'user' | 'admin', number>>) =>
    (['guest', 'user', 'admin'] as const).map(
      (as): Scenario => ({
        name: `${name}, for ${as}`,
        as,
        request: `GET ${path}/history`,
        expect: statuses[as] === 403 ? refused.forbidden : { status: statuses[as] },
        spec: 'history §3.2',
      }),
    );
  const letter = async (body: object, isDeleted: boolean): Promise<string> => {
    const { id } = await root.create('letters', body);
    if (isDeleted) await root.delete(`/api/v1/letters/${id}`);
    return `/api/v1/letters/${id}`;
  };
  const vault = `/api/v1/vault/${(await root.create('vault', { title: 'x' })).id}`;
  const rows: Scenario[] = [...seen('a rule for admins', vault, { guest: 403, user: 403, admin: 200 })];
  for (const isDeleted of [false, true]) {
    const state = isDeleted ? 'a deleted' : 'a';
    rows.push(
      ...seen(`${state} record of the user`, await letter({ owner: (await target.user()).id }, isDeleted), {
        guest: 403,
        user: 200,
        admin: 200,
      }),
      ...seen(`${state} record of another user`, await letter({ owner: 'x' }, isDeleted), {
        guest: 403,
        user: 403,
        admin: 200,
      }),
      ...seen(`${state} record that a relation opens`, await letter({ circle: circle.id }, isDeleted), {
        guest: 200,
        user: 200,
        admin: 200,
      }),
    );
  }
  await runScenarios(t, target, [
    ...rows,
    {
      name: 'an invalid token',
      request: `GET ${await letter({ owner: 'x' }, true)}/history`,
      headers: { Authorization: 'Bearer expired.or.forged' },
      expect: refused.unauthenticated,
      spec: 'rules §2.4',
    },
    {
      name: 'an unknown record is 404 for a guest',
      request: `GET /api/v1/letters/${unknownId}/history`,
      expect: refused.notFound,
      spec: 'history §3.3',
    },
  ]);
});

onEachTopology('each record of a cascade has its row', async (t, target) => {
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
  await t.test('each cascaded delete and each setNull is a write of its own [history §2.2]', async () => {
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

onEachTopology('history survives the deletion of its actor', async (t, target) => {
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
      name: 'the row still names its actor',
      request: `GET /api/v1/survivors/${record.id}/history`,
      expect: historyOf(row),
      spec: 'history §2.3',
    },
  ]);
});

onEachTopology('history follows the schema', async (t, target) => {
  const root = await target.admin();
  const collection = await define(root, 'forms', [text('old'), text('dropped')]);
  const fields = JSON.parse(String(collection.fields)) as { id: string; name: string }[];
  const first = await root.create('forms', { old: 'v1', dropped: 'x' });
  const path = `/api/v1/forms/${first.id}`;
  await root.patch(path, { old: 'v2' });
  const [old] = fields;
  await root.patch('/api/v1/collections/forms', { fields: [{ ...old, name: 'renamed' }, text('added')] });
  await eventually('the new field is known', async () => {
    const { status } = await root.send('PATCH', path, { body: { added: 'kept' } });
    return status === 200;
  });
  const shown = (values: object) => ({ id: first.id, ...values, created: first.created });
  await t.test('snapshots have the present names of the fields [history §4.1]', async () => {
    const rows = await rowsOf(root, path);
    assert.deepEqual(
      rows.map(({ at, snapshot }) => ({ ...objectAt({ snapshot }, 'snapshot'), updated: at })),
      [
        { ...shown({ renamed: 'v2', added: 'kept' }), updated: rows[0]?.at },
        { ...shown({ renamed: 'v2', added: null }), updated: rows[1]?.at },
        { ...shown({ renamed: 'v1', added: null }), updated: first.updated },
      ],
    );
  });
  await runScenarios(t, target, [
    {
      name: 'a restore leaves out dropped fields and keeps later ones',
      as: 'admin',
      request: `POST ${path}/restore?version=${first.updated}`,
      expect: {
        status: 200,
        json: { data: { ...shown({ renamed: 'v1', added: 'kept' }), updated: is.number } },
      },
      events: ['forms.update'],
      spec: 'history §5.4',
    },
    {
      name: 'history is switched off',
      as: 'admin',
      request: 'PATCH /api/v1/collections/forms',
      body: { history_enabled: false },
      expect: { status: 200 },
      spec: 'history §1.2',
    },
    {
      name: 'history is switched on again',
      as: 'admin',
      request: 'PATCH /api/v1/collections/forms',
      body: { history_enabled: true },
      expect: { status: 200 },
      spec: 'history §1.2',
    },
    {
      name: 'a collection is dropped with its history',
      as: 'admin',
      request: 'DELETE /api/v1/collections/forms',
      expect: { status: 200 },
      spec: 'history §1.2',
    },
    {
      name: 'a new collection of the same name',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: { name: 'forms', type: 'base', fields: [], history_enabled: true },
      expect: { status: 201 },
      spec: 'history §1.2',
    },
    {
      name: 'the new collection has no history of the old one',
      as: 'admin',
      request: `GET ${path}/history`,
      expect: refused.notFound,
      spec: 'history §1.2',
    },
  ]);
});
