import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { objectAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

const nothing = 'nothing-has-this-id';
const long = 'a long and winding password';

onEachTopology('a 422 for admins also names relations to no record [records §5.4]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  const define = (name: string, type: string, fields: object[], more: object = {}) =>
    admin.post('/api/v1/collections', { name, type, fields, ...more });
  await define('depots', 'base', []);
  const relations = [
    { name: 'depot', type: 'relation', collection: 'depots' },
    several('spares', 'depots'),
    { name: 'n', type: 'number', options: { max: 9 } },
  ];
  await define('lorries', 'base', relations);
  await define('drivers', 'auth', relations);
  const { id: depot } = await admin.create('depots', {});
  const lorry = await admin.create('lorries', { depot });
  const driver = await admin.create('drivers', { email: 'dan@example.com', password: long });
  const problems = async (client: Client, method: string, path: string, body: object) => {
    const answer = await client.send(method, `/api/v1/${path}`, { body });
    assert.equal(answer.status, 422, answer.text);
    return Object.keys(objectAt(answer.json, 'details')).sort();
  };

  await t.test('in a create and in an update', async () => {
    for (const [method, path] of [
      ['POST', 'lorries'],
      ['PATCH', `lorries/${lorry.id}`],
      ['PUT', 'lorries/a-new-one'],
    ] as const) {
      assert.deepEqual(await problems(admin, method, path, { n: 10, depot: nothing, spares: [depot, nothing] }), [
        'depot',
        'n',
        'spares',
      ]);
      assert.deepEqual(await problems(admin, method, path, { n: 10, depot, spares: [depot] }), ['n']);
      assert.deepEqual(await problems(admin, method, path, { n: 10, depot: ['x'], spares: [] }), ['depot', 'n']);
    }
  });

  await t.test('with a refused password', async () => {
    const body = { password: 'short', n: 10, depot: nothing };
    assert.deepEqual(await problems(admin, 'PATCH', `drivers/${driver.id}`, body), ['depot', 'n', 'password']);
    const created = { email: 'eve@example.com', ...body };
    assert.deepEqual(await problems(admin, 'POST', 'drivers', created), ['depot', 'n', 'password']);
  });

  await t.test('others, and for long lists everyone, once the rest is right', async () => {
    assert.deepEqual(await problems(guest, 'POST', 'lorries', { n: 10, depot: nothing }), ['n']);
    assert.deepEqual(await problems(guest, 'POST', 'lorries', { n: 9, depot: nothing }), ['depot']);
    const spares = Array.from({ length: 101 }, (_, index) => `${nothing}-${index}`);
    assert.deepEqual(await problems(admin, 'POST', 'lorries', { n: 10, spares }), ['n']);
    assert.deepEqual(await problems(admin, 'POST', 'lorries', { spares }), ['spares']);
  });

  await t.test('a missing record is 404 whatever the body has', async () => {
    const answer = await admin.send('PATCH', '/api/v1/lorries/no-such-lorry', { body: { n: 10, depot: nothing } });
    assert.equal(answer.status, 404, answer.text);
  });
});
