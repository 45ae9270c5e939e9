import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { at } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';

const spec = 'extensions §4';

export async function routes(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'shop_stock', type: 'base', fields: [] });
  await admin.post('/api/v1/collections', { name: 'shop_private', type: 'base', fields: [], list_rule: '' });
  await admin.create('shop_private', {});
  const { id } = await target.user();
  const get = (path: string, status: number, json: unknown, as?: Scenario['as']): Scenario => ({
    name: path,
    ...(as && { as }),
    request: `GET /api/x/shop/${path}`,
    expect: { status, ...(json !== undefined && { json }) },
    spec,
  });
  const quote = (label: string, path: string, body: unknown, expect: Scenario['expect']): Scenario => ({
    name: label,
    request: `POST /api/x/shop/quotes/${path}`,
    ...(body !== undefined && { body }),
    expect,
    spec,
  });
  await runScenarios(t, target, [
    quote(
      'a request with numbers and flags as its schemas read them',
      'tea?currency=USD',
      { amount: 2 },
      { status: 200, json: { data: { price: 6, currency: 'USD' } } },
    ),
    quote(
      'a request with the defaults of its schemas',
      'tea',
      { amount: 1 },
      { status: 200, json: { data: { price: 3, currency: 'EUR' } } },
    ),
    quote('a path that its schema refuses', 'a', { amount: 1 }, refused.malformedWith({ item: is.text })),
    quote(
      'a query that its schema refuses',
      'tea?currency=XXX',
      { amount: 1 },
      refused.malformedWith({ currency: is.text }),
    ),
    quote('a body that its schema refuses', 'tea', { amount: -1 }, refused.invalid('amount')),
    quote('a missing body', 'tea', undefined, refused.invalid('amount')),
    quote('a body that is a list', 'tea', [], refused.malformed),
    {
      ...quote('another method', 'tea', undefined, refused.methodNotAllowed('POST')),
      request: 'DELETE /api/x/shop/quotes/tea',
    },
    { ...quote('an unknown path', 'tea', undefined, refused.notFound), request: 'GET /api/x/shop/nowhere' },
    { ...get('me', 200, undefined), ...refusedFor('guest', '/api/x/shop/me', refused.unauthenticated) },
    get('me', 200, { data: is.containing({ type: 'user', id, collection: 'members', anonymous: false }) }, 'user'),
    get('me', 200, { data: is.containing({ type: 'admin' }) }, 'admin'),
    { ...get('admins', 403, undefined), ...refusedFor('user', '/api/x/shop/admins', refused.forbidden) },
    get('admins', 200, { data: 'for admins' }, 'admin'),
    get('ruled?word=please', 200, { data: 'let through' }, 'user'),
    get('ruled', 200, { data: 'let through' }, 'admin'),
    {
      ...get('ruled?word=now', 403, undefined),
      ...refusedFor('user', '/api/x/shop/ruled?word=now', refused.forbidden),
    },
    {
      ...get('ruled?word=please', 403, undefined),
      ...refusedFor('guest', '/api/x/shop/ruled?word=please', refused.forbidden),
    },
    {
      ...get('teapot', 203, { data: 'black' }),
      headers: { 'X-Tea': 'black', Cookie: 'a=b' },
      expect: {
        status: 203,
        headers: {
          'x-pot': 'short and stout',
          'content-type': 'application/json; charset=utf-8',
          vary: 'Origin, X-Tea',
          'x-frame-options': 'DENY',
          'access-control-allow-origin': null,
        },
      },
    },
    get('refuses', 402, { error: 'pay first', code: 'refused' }),
    get('nothing', 200, { data: null }),
    get('as/admin', 200, { data: 1 }),
    { ...get('as/guest', 403, undefined), ...refusedFor('guest', '/api/x/shop/as/guest', refused.forbidden) },
    { ...get('as/caller', 403, undefined), ...refusedFor('user', '/api/x/shop/as/caller', refused.forbidden) },
    get('as/caller', 200, { data: 1 }, 'admin'),
    { ...get('missing', 404, undefined), expect: refused.notFound },
  ]);
  await admin.delete('/api/v1/collections/shop_stock');
  await t.test(`an idempotent route does its work once for a key [extensions §4.5]`, async () => {
    const pour = (key: string, tea: string) =>
      target.guest.send('POST', '/api/x/shop/cups', { body: { tea }, headers: { 'X-Service-Idempotency-Key': key } });
    const first = await pour('a', 'black');
    assert.deepEqual([first.status, first.headers['idempotency-replayed']], [201, undefined]);
    const again = await pour('a', 'black');
    assert.deepEqual([again.status, again.json], [first.status, first.json]);
    assert.deepEqual([again.headers['idempotency-replayed'], again.headers['x-pot']], ['true', 'half empty']);
    assert.equal(at((await pour('a', 'green')).json, 'code'), 'idempotency_key_reused');
    assert.notDeepEqual((await pour('b', 'black')).json, first.json);
  });
}

const refusedFor = (as: Scenario['as'], path: string, expect: Scenario['expect']) => ({
  name: `a ${as} who calls ${path}`,
  ...(as && { as }),
  request: `GET ${path}`,
  expect,
});
