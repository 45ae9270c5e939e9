import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { at, listAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { makeKey } from './service-keys.ts';

const path = '/api/v1/records/items/list';

onEachTopology('a list with its parameters in the body', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'items',
    type: 'base',
    fields: [
      { name: 'n', type: 'number' },
      { name: 'secret', type: 'bool' },
      { name: 'place', type: 'vector', options: { dimensions: 2 } },
    ],
    list_rule: 'secret = false',
    view_rule: null,
  });
  for (let n = 0; n < 12; n += 1)
    await admin.send('PUT', `/api/v1/items/i${n}`, { body: { n, secret: n === 5, place: [n, 1] } });
  await admin.post('/api/v1/collections', {
    name: 'seen',
    type: 'view',
    view_query: 'select id, n from items',
    list_rule: null,
  });

  const send = (client: Client, body: unknown, to = path) => client.send('POST', to, { body });
  const read = async (client: Client, body: unknown, to = path): Promise<unknown> => {
    const { status, json, text } = await send(client, body, to);
    assert.equal(status, 200, text);
    return json;
  };
  const idsIn = (json: unknown) => listAt(json, 'data').map(({ id }) => id);

  await t.test('answers what the list answers [records §3.7]', async () => {
    const pairs: readonly (readonly [string, object])[] = [
      ['', {}],
      [
        'filter=n > 3&sort=-n&perPage=2&page=2&fields=n',
        { filter: 'n > 3', sort: ['-n'], perPage: 2, page: 2, fields: ['n'] },
      ],
      ['skipTotal=1&sort=n,id', { skipTotal: true, sort: 'n,id' }],
      ['cursor=&sort=n&perPage=3', { cursor: '', sort: 'n', perPage: 3 }],
      [
        'nearVector=[1,1]&nearVectorField=place&nearLimit=2',
        { nearVector: [1, 1], nearVectorField: 'place', nearLimit: 2 },
      ],
    ];
    for (const client of [target.guest, admin])
      for (const [query, body] of pairs)
        assert.deepEqual(
          await read(client, body),
          (await client.get(`/api/v1/items?${query.replaceAll(' ', '%20')}`)).json,
        );
    for (const to of ['/api/items/list', '/api/v1/items/list'])
      assert.deepEqual(await read(target.guest, { sort: 'n' }, to), await read(target.guest, { sort: 'n' }));
  });

  await t.test('lists ids, in their order [records §3.7]', async () => {
    const ids = ['i9', 'nobody', 'i5', 'i2', 'i9', 'i11', "'; --", 'i0'];
    const ordered = await read(target.guest, { ids, sort: 'ids', fields: ['n'] });
    assert.deepEqual(idsIn(ordered), ['i9', 'i2', 'i11', 'i0']);
    assert.equal(at(ordered, 'totalItems'), 4);
    assert.deepEqual(idsIn(await read(admin, { ids, sort: 'ids' })), ['i9', 'i5', 'i2', 'i11', 'i0']);
    assert.deepEqual(idsIn(await read(target.guest, { ids, sort: '-n' })), ['i11', 'i9', 'i2', 'i0']);
    assert.deepEqual(idsIn(await read(target.guest, { ids, sort: 'ids', page: 2, perPage: 3 })), ['i0']);
    const filtered = await read(target.guest, { ids, filter: 'n != 2', sort: 'ids' });
    assert.deepEqual([idsIn(filtered), at(filtered, 'totalItems')], [['i9', 'i11', 'i0'], 3]);
    assert.equal(at(await read(target.guest, { ids, skipTotal: true }), 'totalItems'), -1);
    assert.deepEqual(idsIn(await read(target.guest, { ids: [] })), []);
    assert.deepEqual(idsIn(await read(target.guest, { ids, sort: 'ids' }, '/api/v1/seen/list')), [
      'i9',
      'i5',
      'i2',
      'i11',
      'i0',
    ]);
    const many = Array.from({ length: 1000 }, (_, n) => `i${999 - n}`);
    assert.equal(idsIn(await read(target.guest, { ids: many, sort: 'ids' }))[0], 'i11');
  });

  await t.test('takes a filter that is too long for an address [records §3.7]', async () => {
    const items = Array.from({ length: 1000 }, (_, n) => `"${'x'.repeat(55)}${1000 + n}"`).join(', ');
    const filter = `id in (${items}) || n = 3`;
    assert.ok(filter.length > 60_000);
    assert.deepEqual(idsIn(await read(target.guest, { filter })), ['i3']);
    assert.equal((await send(target.guest, { filter: `${filter} ${' '.repeat(6000)}` })).status, 400);
  });

  const refuses = (name: string, body: unknown, expect: Scenario['expect']): Scenario => ({
    name,
    request: `POST ${path}`,
    body,
    expect,
    spec: 'records §3.7',
  });
  await runScenarios(t, target, [
    refuses('1,001 ids', { ids: Array(1001).fill('i1') }, refused.invalid('ids')),
    refuses('an id that is a number', { ids: [1] }, refused.naming('ids')),
    refuses('an id with NUL', { ids: ['a\u0000'] }, refused.naming('ids')),
    refuses('an unknown member', { colour: 1 }, refused.invalid('colour')),
    refuses('a page that is a text', { page: '2' }, refused.invalid('page')),
    refuses('a page with a fraction', { page: 1.5 }, refused.malformedWith({ page: 'must be a whole number' })),
    refuses(
      'the order of ids without them',
      { sort: 'ids' },
      refused.malformedWith({ sort: 'items has no field "ids"' }),
    ),
    refuses(
      'ids with a cursor',
      { ids: ['i1'], cursor: '' },
      refused.malformedWith({ ids: 'cannot be combined with cursor' }),
    ),
    {
      name: 'a record that is called list',
      as: 'admin',
      request: 'PUT /api/v1/items/list',
      body: { n: 1 },
      expect: refused.invalid('id'),
      spec: 'records §17.2',
    },
  ]);

  await t.test('is a read, for keys and for repeated requests [records §3.7]', async () => {
    const reader = await makeKey(target, ['records:items:read']);
    assert.equal(at(await read(reader, {}), 'totalItems'), 12);
    const other = await makeKey(target, ['records:seen:read']);
    assert.equal((await send(other, {})).status, 403);
    const headers = { 'Idempotency-Key': 'again' };
    const first = await admin.send('POST', path, { body: {}, headers });
    await admin.delete('/api/v1/items/i0');
    const second = await admin.send('POST', path, { body: {}, headers });
    assert.deepEqual([at(first.json, 'totalItems'), at(second.json, 'totalItems')], [12, 11]);
  });
});
