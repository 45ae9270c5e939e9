import assert from 'node:assert/strict';
import { createWebhook } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { batchPath, done, openShop, refusedAt, result, sendBatch } from './batch-shop.ts';
import { auth, clientOf, createUsers, password } from './users.ts';

onEachTopology('a batch writes accounts like single writes', async (t, target) => {
  const users = await createUsers(target, { create_rule: null, list_rule: '' });
  const admin = await target.admin();
  const spec = 'batch §2.2';
  const create = (email: string, more: object = {}) => ({
    op: 'create',
    collection: users,
    data: { email, password, ...more },
  });
  const row = (name: string, operations: readonly unknown[], expect: object, more: object = {}) =>
    ({ name, request: `POST ${batchPath}`, body: { operations }, expect: expect as never, spec, ...more }) as const;
  await runScenarios(t, target, [
    row(
      'sign-ups',
      [create('a@example.com'), create('b@example.com')],
      done(result(201, { email: 'a@example.com' }), result(201, { verified: false })),
      {
        events: [`${users}.create`, `${users}.create`],
      },
    ),
    row(
      'a password that is too short',
      [create('c@example.com'), create('d@example.com', { password: 'x' })],
      refusedAt(422, 1, { password: is.text }),
    ),
    row(
      'an address that an earlier operation takes',
      [create('c@example.com'), create('C@example.com')],
      refusedAt(422, 1, { email: is.text }),
    ),
    row(
      'a guest who marks an address as verified',
      [create('c@example.com', { verified: true })],
      refusedAt(403, 0, { verified: is.text }),
    ),
    row('a guest who chooses the id of an account', [{ ...create('c@example.com'), id: 'mine' }], refusedAt(403, 0)),
    row(
      'an admin who does',
      [{ ...create('c@example.com', { verified: true }), id: 'mine' }],
      done(result(201, { id: 'mine', verified: true })),
      {
        as: 'admin',
        events: [`${users}.create`],
      },
    ),
  ]);

  await t.test('changing a password needs the old one, and ends the sessions [batch §2.2]', async () => {
    const login = (secret: string) =>
      target.guest.send('POST', `${auth}/${users}/login`, { body: { email: 'a@example.com', password: secret } });
    const session = await login(password);
    const ann = clientOf(target, objectAt(session.json, 'data'));
    const id = textAt(session.json, 'data.record.id');
    const change = (data: object) => sendBatch(ann, [{ op: 'update', collection: users, id, data }]);
    const without = await change({ password: 'another long password' });
    assert.deepEqual([without.status, at(without.json, 'details.index')], [422, 0]);
    const wrong = await change({ password: 'another long password', old_password: 'wrong' });
    assert.deepEqual([wrong.status, at(wrong.json, 'details')], [422, { old_password: 'is wrong', index: 0 }]);
    const right = await change({ password: 'another long password', old_password: password });
    assert.equal(right.status, 200, right.text);
    await eventually('the session is over', async () => (await change({ nick: 'x' })).status === 401);
    assert.equal((await login('another long password')).status, 200);
  });

  await t.test('closed sign-up closes batches [batch §2.2]', async () => {
    const setting = `auth.sign_up.${users}`;
    await admin.patch('/api/v1/admin/settings', { [setting]: 'closed' });
    await eventually(
      'sign-up is closed',
      async () => (await sendBatch(target.guest, [create('e@example.com')])).status === 403,
    );
    // Uses another address, because a replica that has not yet followed the change may have created the first account.
    assert.equal((await sendBatch(admin, [create('f@example.com')])).status, 200);
  });
});

onEachTopology('field rules hold for each operation in a batch', async (t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'name', type: 'text' },
    { name: 'n', type: 'number' },
    { name: 'closed', type: 'text', view_rule: '', write_rule: '' },
    { name: 'half', type: 'text', view_rule: 'n > 1', write_rule: 'n < 5' },
  ];
  const rules = { update_rule: '@request.body.n != 9 && @request.method = "PATCH"' };
  await admin.post('/api/v1/collections', { name: 'fielded', type: 'base', fields, ...rules });
  const create = (data: object) => ({ op: 'create', collection: 'fielded', data });
  const spec = 'batch §2.2';
  const row = (name: string, operations: readonly unknown[], expect: object, events: readonly string[] = []) =>
    ({ name, request: `POST ${batchPath}`, body: { operations }, expect: expect as never, spec, events }) as const;
  const shown = (data: object) => ({
    status: 201,
    data: { id: is.uuidV7, created: is.now, updated: is.now, name: null, n: null, ...data },
    etag: is.etag,
  });
  const twice = ['fielded.create', 'fielded.create'];
  await runScenarios(t, target, [
    row(
      'fields that are shown for some records',
      [create({ n: 1, half: 'a' }), create({ n: 2, half: 'b' })],
      done(shown({ n: 1 }), shown({ n: 2, half: 'b' })),
      twice,
    ),
    row('a field that nobody may write', [create({}), create({ closed: 'x' })], refusedAt(403, 1, { closed: is.text })),
    row(
      'a field that may not be written here',
      [create({ n: 4, half: 'x' }), create({ n: 5, half: 'x' })],
      refusedAt(403, 1, { half: is.text }),
    ),
    row(
      'a rule that reads the body of its operation',
      [
        { ...create({ n: 1 }), id: 'one' },
        { ...create({ n: 1 }), id: 'two' },
        { op: 'update', collection: 'fielded', id: 'one', data: { n: 8 } },
        { op: 'update', collection: 'fielded', id: 'two', data: { n: 9 } },
      ],
      refusedAt(403, 3),
    ),
  ]);
});

onEachTopology('webhooks get the place in the batch', async (t, target) => {
  await openShop(target, 'hooked');
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await createWebhook(admin, receiver.url, ['hooked_tags.*']);
  const operations = ['x', 'y'].map((name) => ({ op: 'create', collection: 'hooked_tags', data: { name } }));
  const { status, text } = await sendBatch(target.guest, operations);
  assert.equal(status, 200, text);
  await target.guest.post('/api/v1/hooked_tags', { name: 'single' });
  await eventually('three deliveries', () => receiver.deliveries.length >= 3);
  const places = new Map(receiver.deliveries.map(({ json }) => [at(json, 'data.record.name'), at(json, 'batch')]));
  await t.test('from a batch have its id, events from single writes do not [batch §4.4]', () => {
    const id = at(places.get('x'), 'id');
    assert.deepEqual(places.get('x'), { id, index: 0, size: 2 });
    assert.deepEqual(places.get('y'), { id, index: 1, size: 2 });
    assert.equal(places.get('single'), undefined);
  });
});
