import assert from 'node:assert/strict';
import { file } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { upload } from './file-forms.ts';
import { createStaff, membersFor, type Role, roles } from './staff.ts';
import { auth, password } from './users.ts';

const names = (record: unknown): string[] => Object.keys(record as JsonObject).sort();
const expected = (role: Role, more: readonly string[] = []) => [...membersFor[role], ...more].sort();

onEachTopology('field view rules decide what answers show', async (t, target) => {
  const { clients, ada, boss, ownerId, users } = await createStaff(target);
  const one = `/api/v1/staff/${ada.id}`;
  const get = async (role: Role, path: string) => {
    const answer = await clients[role].get(path);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };

  for (const role of roles) {
    await t.test(`get, list and cursor for ${role} [fields §5.2]`, async () => {
      const record = objectAt(await get(role, one), 'data');
      assert.deepEqual(names(record), expected(role));
      if (role === 'owner')
        assert.deepEqual([record.phone, record.pets, record.boss, record.pin], ['55', { cat: 'Tom' }, boss.id, '1234']);
      for (const query of ['', '&cursor=', '&sort=name', '&filter=name="Ada"', '&skipTotal=1&page=1']) {
        const [first] = listAt(await get(role, `/api/v1/staff?perPage=1&sort=name${query}`), 'data');
        assert.deepEqual(names(first), expected(role), query);
      }
    });

    await t.test(`a record of nobody for ${role} [fields §5.2]`, async () => {
      const record = objectAt(await get(role, `/api/v1/staff/${boss.id}`), 'data');
      assert.deepEqual(names(record), expected(role === 'owner' ? 'other' : role));
    });

    await t.test(`fields for ${role} [fields §5.2]`, async () => {
      const record = objectAt(await get(role, `${one}?fields=name,phone,salary,shift`), 'data');
      const wanted = ['id', 'name', 'phone', 'salary', 'shift'];
      assert.deepEqual(names(record), wanted.filter((name) => membersFor[role].includes(name)).sort());
    });

    await t.test(`history for ${role} [fields §5.3]`, async () => {
      const [row] = listAt(objectAt(await get(role, `${one}/history`), 'data'), 'data');
      assert.deepEqual(names(objectAt(row, 'snapshot')), expected(role));
    });

    await t.test(`expand for ${role} [fields §5.4]`, async () => {
      const paths = { guest: 'owner', other: 'owner,boss', owner: 'owner,boss', admin: 'owner,mentor,boss' }[role];
      const expanded = objectAt(objectAt(await get(role, `${one}?expand=${paths}`), 'data'), 'expand');
      const shown = { guest: [], other: [], owner: ['boss', 'owner'], admin: ['boss', 'mentor', 'owner'] }[role];
      assert.deepEqual(names(expanded), shown);
      if ('boss' in expanded)
        assert.deepEqual(names(expanded.boss), expected(role === 'owner' ? 'other' : role), 'rules of the target');
    });

    await t.test(`a write answers what the caller may view, for ${role} [fields §5.3]`, async () => {
      const created = await clients[role].create('staff', { name: 'New', owner: ownerId, phone: '1', salary: 2 });
      assert.deepEqual(names(created), expected(role));
      const changed = await clients[role].patch(`/api/v1/staff/${created.id}`, { phone: '2', salary: 3 });
      assert.deepEqual(names(changed), expected(role));
      const stored = await clients.admin.get(`/api/v1/staff/${created.id}`);
      assert.deepEqual([at(stored.json, 'data.phone'), at(stored.json, 'data.salary')], ['2', 3]);
      await clients.admin.delete(`/api/v1/staff/${created.id}`);
    });

    await t.test(`the API document for ${role} [fields §5.7]`, async () => {
      const schemas = objectAt(await get(role, '/api/v1/openapi.json'), 'components.schemas');
      const record = objectAt(schemas['staff.record'], 'properties');
      const closed = { guest: ['salary', 'mentor', 'phone', 'boss', 'shift'], other: ['salary', 'mentor'] };
      const hidden = role === 'admin' ? [] : closed[role === 'guest' ? 'guest' : 'other'];
      for (const name of ['salary', 'mentor', 'phone', 'boss', 'shift', 'name'])
        assert.equal(name in record, !hidden.includes(name), name);
      for (const body of ['staff.create', 'staff.update']) {
        const written = objectAt(schemas[body], 'properties');
        assert.deepEqual(
          [name(written, 'rank'), name(written, 'bio'), name(written, 'salary')],
          [role === 'admin', role !== 'guest', true],
          body,
        );
      }
    });
  }

  await t.test('a relation that the caller never sees is like a missing relation [fields §5.4]', async () => {
    for (const role of ['guest', 'other', 'owner'] as const) {
      const texts = ['mentor', 'nothing'].map(async (relation) => {
        const answer = await clients[role].get(`${one}?expand=${relation}`);
        return [answer.status, answer.text.replaceAll(relation, 'X')];
      });
      const [closed, missing] = await Promise.all(texts);
      assert.equal(closed?.[0], 400);
      assert.deepEqual(closed, missing);
    }
    assert.equal((await clients.guest.get(`${one}?expand=boss`)).status, 400, 'the rule never holds for guests');
  });

  await t.test('a version reveals nothing about conditional fields [fields §5.3]', async () => {
    const { headers } = await clients.owner.get(one);
    const conditional = { headers: { 'If-None-Match': String(headers.etag) } };
    assert.equal((await clients.owner.send('GET', one, conditional)).status, 200);
    assert.equal((await clients.admin.send('GET', one, conditional)).status, 304);
  });

  await t.test("a deleted record's history follows its last version [fields §5.3]", async () => {
    const { id } = await clients.admin.create('staff', { name: 'Gone', owner: ownerId, phone: '7' });
    await clients.admin.delete(`/api/v1/staff/${id}`);
    for (const role of roles) {
      const rows = listAt(objectAt(await get(role, `/api/v1/staff/${id}/history`), 'data'), 'data');
      assert.deepEqual(
        rows.map((row) => names(objectAt(row, 'snapshot'))),
        [expected(role), expected(role)],
      );
    }
  });

  await t.test("a hidden field's file is not served [fields §5.6]", async () => {
    const record = await upload(
      clients.admin,
      '/api/v1/staff',
      { name: 'owner', content: ownerId },
      file('photo', 'a.txt', 'a'),
    );
    const url = `/api/v1/files/staff/${record.id}/${record.photo}`;
    const statuses = async (suffix = '') =>
      Promise.all(roles.map(async (role) => (await clients[role].get(`${url}${suffix}`)).status));
    assert.deepEqual(await statuses(), [403, 403, 200, 200]);
    assert.deepEqual((await statuses('?thumb=100x100')).slice(0, 2), [403, 403]);
    const body = { collection: 'staff', id: record.id, filename: record.photo };
    const minted = await Promise.all(
      roles.map(async (role) => (await clients[role].send('POST', '/api/v1/files/token', { body })).status),
    );
    assert.deepEqual(minted, [403, 403, 200, 200]);
    const all = await clients.other.post('/api/v1/files/token', {}, 200);
    assert.equal((await clients.guest.get(`${url}?token=${textAt(all, 'token')}`)).status, 403);
  });

  await t.test(
    'a refused delete does not name records that refer through a hidden relation [fields §5.4]',
    async () => {
      const field = {
        name: 'about',
        type: 'relation',
        collection: 'staff',
        options: { cascade: 'restrict' },
        view_rule: '',
      };
      await clients.admin.post('/api/v1/collections', { name: 'reviews', type: 'base', fields: [field] });
      const target = await clients.admin.create('staff', { name: 'Blocked' });
      await clients.admin.create('reviews', { about: target.id });
      const blocked = async (role: Role) =>
        objectAt((await clients[role].send('DELETE', `/api/v1/staff/${target.id}`)).json, 'details');
      assert.deepEqual(await blocked('other'), { blockers: [], total: 1 });
      assert.equal(listAt(await blocked('admin'), 'blockers').length, 1);
    },
  );

  await t.test('accounts see their own record by its rules [fields §5.3]', async () => {
    const admin = clients.admin;
    const fields = [
      { name: 'nick', type: 'text' },
      { name: 'score', type: 'number', view_rule: '' },
      { name: 'secret', type: 'text', view_rule: 'id = @request.auth.id' },
      { name: 'later', type: 'text', view_rule: 'nick = "shown"' },
    ];
    await admin.patch(`/api/v1/collections/${users}`, { fields });
    const known = { email: 'owner@example.com', password };
    await eventually(
      'the sign-in follows the new fields',
      async () => 'secret' in objectAt(await target.guest.post(`${auth}/${users}/login`, known, 200), 'record'),
    );
    const email = 'new@example.com';
    const body = { email, password, nick: 'hidden' };
    const registered = await target.guest.post(`${auth}/${users}/register`, body);
    const shown = ['anonymous', 'created', 'email', 'id', 'nick', 'secret', 'updated', 'verified'];
    assert.deepEqual(names(registered.record), shown);
    await admin.patch(`/api/v1/${users}/${at(registered, 'record.id')}`, { nick: 'shown' });
    const session = await target.guest.post(`${auth}/${users}/login`, { email, password }, 200);
    assert.deepEqual(names(session.record), [...shown, 'later'].sort());
    const refreshed = await target.guest.send('POST', `${auth}/refresh`, {
      headers: { Authorization: `Bearer ${textAt(session, 'token')}` },
    });
    assert.deepEqual(names(objectAt(refreshed.json, 'data.record')), [...shown, 'later'].sort());
  });
});

const name = (properties: JsonObject, member: string): boolean => member in properties;
