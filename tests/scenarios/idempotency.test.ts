import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Answer, Client } from '../harness/client.ts';
import { at, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';
import { pathsOf } from './blog.ts';

const header = 'X-Service-Idempotency-Key';
const reused = { status: 422, json: { error: is.text, code: 'idempotency_key_reused' } };
const spec = 'contract §1';

const post = (client: Client, path: string, body: unknown, key: string): Promise<Answer> =>
  client.send('POST', path, { body, headers: { [header]: key } });

const totalOf = async (client: Client, collection: string): Promise<unknown> =>
  at((await client.get(`/api/v1/${collection}`)).json, 'totalItems');

onEachTopology('a POST with an idempotency key is done once', async (t, target) => {
  const root = await target.admin();
  const fields = [{ name: 'n', type: 'number', options: { max: 10 } }];
  await root.post('/api/v1/collections', { name: 'orders', type: 'base', fields });
  await root.post('/api/v1/collections', { name: 'closed', type: 'base', fields, create_rule: '' });
  const key = randomUUID();
  const first = await post(target.guest, '/api/v1/orders', { n: 1 }, key);
  assert.equal(first.status, 201, first.text);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  const keyed = (name: string, expect: Scenario['expect'], more: Partial<Scenario> = {}): Scenario => ({
    name,
    request: 'POST /api/v1/orders',
    body: { n: 1 },
    headers: { [header]: key },
    expect,
    spec,
    ...more,
  });
  const replayed = {
    status: 201,
    json: first.json,
    headers: { 'idempotency-replayed': 'true', etag: String(first.headers.etag) },
  };
  const fresh = { status: 201, headers: { 'idempotency-replayed': null } };
  const created = { events: ['orders.create'] };
  const refusedKey = randomUUID();
  await runScenarios(t, target, [
    ...pathsOf('orders').map((path) => keyed(`again, to ${path}`, replayed, { request: `POST ${path}` })),
    keyed('another body', reused, { body: { n: 2 } }),
    keyed('a body that is refused anyway', { status: 422 }, { body: { colour: 'red' } }),
    keyed('another key', fresh, { ...created, headers: { [header]: randomUUID() } }),
    keyed('another caller', fresh, { ...created, as: 'user' }),
    keyed('no key', fresh, { ...created, headers: {} }),
    keyed('another path, which refuses', { status: 403 }, { request: 'POST /api/v1/closed' }),
    keyed('a key of 255 characters', fresh, { ...created, headers: { [header]: 'k'.repeat(255) } }),
    keyed('a key of 256 characters', { status: 400 }, { headers: { [header]: 'k'.repeat(256) } }),
    keyed('an empty key', { status: 400 }, { headers: { [header]: '' } }),
    keyed('a refusal is not kept', { status: 422 }, { body: { n: 11 }, headers: { [header]: refusedKey } }),
    keyed('so the key is good for another try', fresh, { ...created, headers: { [header]: refusedKey } }),
  ]);
  await t.test(`nothing was made twice [${spec}]`, async () => {
    assert.equal(await totalOf(target.guest, 'orders'), 6);
  });

  await t.test(`of many at once one is done, and all that have an answer have the same [${spec}]`, async () => {
    const raced = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(target.guest, '/api/v1/orders', { n: 3 }, raced)),
    );
    const done = answers.filter(({ status }) => status === 201);
    assert.ok(done.length >= 1);
    assert.equal(done.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1);
    assert.equal(new Set(done.map((answer) => answer.text)).size, 1);
    for (const { status, json } of answers)
      assert.ok(status === 201 || (status === 409 && at(json, 'code') === 'idempotency_key_in_use'), `${status}`);
    assert.equal(await totalOf(target.guest, 'orders'), 7);
  });

  await t.test(`every POST that creates takes a key [${spec}]`, async () => {
    const person = { email: 'second@example.com', password: 'correct horse battery staple' };
    await root.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [] });
    await root.patch('/api/v1/admin/settings', { 'auth.anonymous.enabled': '1' });
    const { id } = await root.post('/api/v1/admin/webhooks', { name: 'w', url: 'http://192.0.2.1/', events: ['*'] });
    const webhook = `/api/v1/admin/webhooks/${id}`;
    const delivery = await root.post(`${webhook}/test`, {}, 200);
    const { json: snapshot } = await root.get('/api/v1/admin/migrations/snapshot');
    for (const [path, body, status = 201] of [
      ['/api/v1/auth/people/register', person],
      ['/api/v1/auth/people/anonymous', {}],
      ['/api/v1/admin/collections/orders/indexes', { name: 'by_n', columns: ['n'] }],
      ['/api/v1/collections', { name: 'once', type: 'base', fields: [] }],
      ['/api/v1/admin/migrations/apply', { snapshot }, 200],
      ['/api/v1/admin/webhooks', { name: 'v', url: 'http://192.0.2.1/', events: ['*'] }],
      [`${webhook}/regenerate-secret`, {}, 200],
      [`${webhook}/test`, {}, 200],
      [`${webhook}/deliveries/${delivery.id}/redeliver`, {}],
      [`${webhook}/replay`, { since: 0 }, 200],
      ['/api/v1/admin/admins', person],
    ] as const) {
      const once = randomUUID();
      const answers = [await post(root, path, body, once), await post(root, path, body, once)];
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers['idempotency-replayed']]),
        [
          [status, undefined],
          [status, 'true'],
        ],
        `${path}: ${answers[0]?.text}`,
      );
      assert.equal(answers[0]?.text, answers[1]?.text);
    }
  });

  await t.test(`the description names the header wherever something is made [${spec}]`, async () => {
    const { json } = await root.get('/api/v1/openapi.json');
    const operations = Object.entries(objectAt(json, 'paths')).map(([path, item]) => [path, at(item, 'post')] as const);
    const made = operations.filter(([, post]) => at(post, 'responses.201') ?? at(post, 'responses.202'));
    assert.ok(made.length >= 9);
    const unkept = made.filter(([, post]) => !JSON.stringify(at(post, 'parameters') ?? []).includes('IdempotencyKey'));
    assert.deepEqual(
      unkept.map(([path]) => path),
      [],
    );
  });
});
