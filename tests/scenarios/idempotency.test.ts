import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Answer, Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { pathsOf } from './blog.ts';

const header = 'X-Service-Idempotency-Key';
const shortHeader = 'Idempotency-Key';
const reused = { status: 422, json: { error: is.text, code: 'idempotency_key_reused' } };
const spec = 'http §7';

const post = (client: Client, path: string, body: unknown, key: string): Promise<Answer> =>
  client.send('POST', path, { body, headers: { [header]: key } });

const totalOf = async (client: Client, collection: string): Promise<unknown> =>
  at((await client.get(`/api/v1/${collection}`)).json, 'totalItems');

onEachTopology('a POST with an idempotency key happens once', async (t, target) => {
  const root = followedEverywhere(await target.admin());
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
    ...pathsOf('orders').map((path) => keyed(`the same key at ${path}`, replayed, { request: `POST ${path}` })),
    keyed('the same key under the short name of the header', replayed, {
      headers: { [shortHeader]: key },
      spec: 'http §7.1',
    }),
    keyed('the same key under both names', replayed, {
      headers: { [header]: key, [shortHeader]: key },
      spec: 'http §7.1',
    }),
    keyed(
      'two keys',
      { status: 400, json: { error: is.matching(/Idempotency-Key/), code: 'malformed_request' } },
      { headers: { [header]: key, [shortHeader]: `${key}2` }, spec: 'http §7.1' },
    ),
    keyed(
      'one key and an empty one',
      { status: 400 },
      { headers: { [header]: key, [shortHeader]: '' }, spec: 'http §7.1' },
    ),
    keyed('a short name with a key that is too long', { status: 400 }, { headers: { [shortHeader]: 'k'.repeat(256) } }),
    keyed('another body', reused, { body: { n: 2 } }),
    keyed('an invalid body', { status: 422 }, { body: { colour: 'red' } }),
    keyed('another key', fresh, { ...created, headers: { [header]: randomUUID() } }),
    keyed('another caller', fresh, { ...created, as: 'user' }),
    keyed('no key', fresh, { ...created, headers: {} }),
    keyed('another path, which refuses', { status: 403 }, { request: 'POST /api/v1/closed' }),
    keyed('a key of 255 characters', fresh, { ...created, headers: { [header]: 'k'.repeat(255) } }),
    keyed('a key of 256 characters', { status: 400 }, { headers: { [header]: 'k'.repeat(256) } }),
    keyed('an empty key', { status: 400 }, { headers: { [header]: '' } }),
    keyed('a refused body', { status: 422 }, { body: { n: 11 }, headers: { [header]: refusedKey } }),
    keyed('the key of a refused body, which can be used again', fresh, {
      ...created,
      headers: { [header]: refusedKey },
    }),
  ]);
  await t.test(`nothing was created twice [${spec}]`, async () => {
    assert.equal(await totalOf(target.guest, 'orders'), 6);
  });

  await t.test(`among many parallel requests, one takes effect, and every 201 is the same [${spec}]`, async () => {
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

  await t.test(`every POST that creates accepts a key [${spec}]`, async () => {
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

  await t.test(`the API document names the header for every POST that creates [${spec}]`, async () => {
    const { json } = await root.get('/api/v1/openapi.json');
    const operations = Object.entries(objectAt(json, 'paths')).map(([path, item]) => [path, at(item, 'post')] as const);
    const made = operations.filter(([, post]) => at(post, 'responses.201') ?? at(post, 'responses.202'));
    assert.ok(made.length >= 9);
    const names = ['IdempotencyKey', 'ServiceIdempotencyKey'].map((name) => `#/components/parameters/${name}`);
    const undeclared = made.filter(([, post]) => {
      const parameters = JSON.stringify(at(post, 'parameters') ?? []);
      return !names.every((name) => parameters.includes(`"${name}"`));
    });
    assert.deepEqual(
      undeclared.map(([path]) => path),
      [],
    );
  });
});

onEachTopology(
  "a guest cannot get a token with another guest's key from the same address [http §7.7]",
  async (t, target) => {
    const root = await target.admin();
    await root.post('/api/v1/collections', { name: 'passers', type: 'auth' });
    await root.patch('/api/v1/admin/settings', { 'auth.anonymous.enabled': '1' });
    const path = '/api/v1/auth/passers';
    await eventually('anonymous sign-in is enabled', async () => {
      return (await target.guest.send('POST', `${path}/anonymous`)).status === 201;
    });
    const registration = { email: `${randomUUID()}@example.com`, password: 'a long and winding password' };
    for (const [route, body] of [
      ['anonymous', {}],
      ['register', registration],
    ] as const)
      await t.test(route, async () => {
        const key = randomUUID();
        const before = await totalOf(root, 'passers');
        const first = await post(target.guest, `${path}/${route}`, body, key);
        assert.equal(first.status, 201, first.text);
        const again = await Promise.all([1, 2, 3].map(() => post(target.guest, `${path}/${route}`, body, key)));
        for (const { status, json, text } of again) {
          assert.deepEqual([status, at(json, 'code')], [409, 'idempotency_not_replayed']);
          assert.doesNotMatch(text, /eyJ/);
        }
        assert.equal(await totalOf(root, 'passers'), Number(before) + 1, 'no second account is created');
      });
    await t.test('an answer without a token is replayed', async () => {
      await root.post('/api/v1/collections', { name: 'marks', type: 'base', fields: [{ name: 'n', type: 'number' }] });
      const key = randomUUID();
      const first = await post(target.guest, '/api/v1/marks', { n: 1 }, key);
      assert.deepEqual((await post(target.guest, '/api/v1/marks', { n: 1 }, key)).json, first.json);
    });
  },
);
