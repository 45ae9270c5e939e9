import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { verifyPassword } from '@recordbus/crypto';
import { z } from 'zod';
import { type Answer, skip, someAdmin, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';

const path = '/api/v1/admin/admins';
const password = 'a long enough password';
const shown = z.strictObject({ id: z.uuid(), email: z.string(), created_at: z.int(), second_factor: z.boolean() });

describe('/api/v1/admin/admins', { skip }, () => {
  let admin: TestAdmin;
  before(async () => {
    admin = await startTestAdmin(() => 1_700_000_000_999);
  });
  after(() => admin.stop());
  beforeEach(() => admin.database.query({ text: 'delete from system.admins', values: [] }));

  const add = async (email: string) => {
    const answer = await admin.call('POST', path, { email, password });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return shown.parse(answer.body.data);
  };
  const stored = async (id: string) => {
    const [row] = await admin.database.query<{ readonly password_hash: string; readonly token_version: number }>({
      text: 'select password_hash, token_version from system.admins where id = $1',
      values: [id],
    });
    assert.ok(row);
    return row;
  };
  const assertRefused = ({ status, body }: Answer, expected: number, details?: object) =>
    assert.deepEqual([status, body.details], [expected, details], JSON.stringify(body));

  test('POST adds an admin, whose password is hashed and never shown', async () => {
    const { id, ...rest } = await add('  Ada@Example.com ');
    assert.deepEqual(rest, { email: 'Ada@example.com', created_at: 1_700_000_000, second_factor: false });
    const { password_hash } = await stored(id);
    assert.equal(await verifyPassword(password_hash, password), true);
    const list = await admin.call('GET', path);
    assert.deepEqual(list, { status: 200, body: { data: [{ id, ...rest }] } });
    const me = await admin.call('GET', '/api/v1/admin/me', undefined, { ...someAdmin, id });
    assert.deepEqual(me, { status: 200, body: { data: { id, ...rest } } });
  });

  test('GET me is 401 for a deleted admin', async () => {
    assert.equal((await admin.call('GET', '/api/v1/admin/me')).status, 401);
  });

  test('422 names the invalid members', async () => {
    await add('ada@example.com');
    const shape = 'must look like name@example.com';
    const cases: [object, object][] = [
      [{}, { email: 'is required', password: 'is required' }],
      [{ email: 'ADA@example.com', password }, { email: "ADA@example.com is another admin's address" }],
      [{ email: 'b@example.com', password: 'eleven char' }, { password: 'must have at least 12 characters' }],
      [{ email: 'b@example', password }, { email: shape }],
      [{ email: 'b\0@example.com', password }, { email: shape }],
      [{ email: 'b\ud800@example.com', password }, { email: 'must not contain half a surrogate pair' }],
      [{ email: 'b@example.com', password, role: 'root' }, { role: 'is not known here' }],
    ];
    for (const [body, details] of cases) assertRefused(await admin.call('POST', path, body), 422, details);
  });

  test('PATCH changes address and password and ends earlier tokens', async () => {
    const ada = await add('ada@example.com');
    await add('bob@example.com');
    const changed = await admin.call('PATCH', `${path}/${ada.id}`, { email: 'Countess@example.com' });
    assert.deepEqual(changed, { status: 200, body: { data: { ...ada, email: 'Countess@example.com' } } });
    assert.equal((await stored(ada.id)).token_version, 1);
    assert.equal((await admin.call('PATCH', `${path}/${ada.id}`, { password: `${password}!` })).status, 200);
    const { password_hash, token_version } = await stored(ada.id);
    assert.equal(token_version, 2);
    assert.equal(await verifyPassword(password_hash, `${password}!`), true);
    assert.equal((await admin.call('PATCH', `${path}/${ada.id}`, {})).status, 200);
    assert.equal((await stored(ada.id)).token_version, 2);
    assertRefused(await admin.call('PATCH', `${path}/${ada.id}`, { email: 'BOB@example.com' }), 422, {
      email: "BOB@example.com is another admin's address",
    });
    assertRefused(await admin.call('PATCH', `${path}/${ada.id}`, { password: 'short' }), 422, {
      password: 'must have at least 12 characters',
    });
  });

  test('an unknown admin is 404, for any text as the id', async () => {
    await add('ada@example.com');
    for (const id of ['01890000-0000-7000-8000-00000000dead', 'nobody', '%00'])
      for (const method of ['PATCH', 'DELETE'])
        assert.equal((await admin.call(method, `${path}/${id}`, method === 'PATCH' ? {} : undefined)).status, 404, id);
  });

  test('DELETE removes an admin, but never the last one, even with parallel requests', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => add(`${name}@example.com`)));
    const answers = await Promise.all(all.map(({ id }) => admin.call('DELETE', `${path}/${id}`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 409]);
    assert.deepEqual(answers.find(({ status }) => status === 200)?.body, { data: null });
    assert.equal(answers.find(({ status }) => status === 409)?.body.code, 'last_admin');
  });
});
