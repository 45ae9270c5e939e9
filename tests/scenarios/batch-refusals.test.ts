import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { batch, batchRequest, openShop, refusedAt } from './batch-shop.ts';

onEachTopology('a batch is refused because of one operation', async (t, target) => {
  await openShop(target, 'no');
  const on = (op: string, collection: string, more: object = {}) => ({ op, collection: `no_${collection}`, ...more });
  const create = (data: object, more: object = {}) => on('create', 'orders', { data, ...more });
  const long = create({ title: 'x'.repeat(30_000) }, { as: 'long' });
  const fine = create({ title: 'fine' }, { as: 'fine' });
  const shape = (name: string, operation: unknown, ...members: readonly string[]) =>
    batch('§2.1', name, [fine, operation], refusedAt(422, 1, Object.fromEntries(members.map((one) => [one, is.text]))));
  const reference = (name: string, operations: readonly unknown[], index: number, member = 'title') =>
    batch('§3.3', name, operations, refusedAt(422, index, { [member]: is.text }));
  const raw = (name: string, rawBody: string, expect: Scenario['expect'], spec = '§1.2'): Scenario => ({
    name,
    request: batchRequest,
    rawBody,
    headers: { 'Content-Type': 'application/json' },
    expect,
    spec: `batch ${spec}`,
  });
  const malformed = { status: 400, json: is.containing({ code: 'malformed_request' }) };
  await runScenarios(
    t,
    target,
    [
      shape('no object', 5, 'operation'),
      shape('null', null, 'operation'),
      shape('an unknown op', on('replace', 'orders'), 'op'),
      shape('no op', { collection: 'no_orders' }, 'op'),
      shape('no collection', { op: 'create' }, 'collection'),
      shape('an unknown member', { ...fine, as: 'b', ids: 1 }, 'ids'),
      shape('a member of another op', create({ title: 'x' }, { if_match: '*' }), 'if_match'),
      shape('an update without id', on('update', 'orders', { data: {} }), 'id'),
      shape('a delete with data', on('delete', 'orders', { id: 'x', data: {} }), 'data'),
      shape('an upsert without a place', on('upsert', 'orders', { data: {} }), 'on'),
      shape('an upsert with two places', on('upsert', 'orders', { id: 'a', on: 'slug', data: {} }), 'on'),
      shape(
        'several wrong members',
        { op: 'update', collection: 1, id: 2, data: [], as: '1' },
        'collection',
        'id',
        'data',
        'as',
      ),
      shape('a name that an operation has', { ...fine }, 'as'),
      shape(
        'data with __proto__',
        JSON.parse('{"op":"create","collection":"no_orders","data":{"__proto__":1}}'),
        'data',
      ),
      reference('a reference to an unknown name', [fine, create({ title: { $ref: 'x.id' } })], 1),
      reference('a reference forwards', [create({ title: { $ref: 'fine.id' } }), fine], 0),
      reference('a reference to itself', [create({ title: { $ref: 'a.id' } }, { as: 'a' })], 0),
      reference('a reference to no member', [fine, create({ title: { $ref: 'fine' } })], 1),
      reference('a reference to a member that lacks', [fine, create({ title: { $ref: 'fine.nothing' } })], 1),
      reference('a reference to an inherited member', [fine, create({ title: { $ref: 'fine.constructor' } })], 1),
      reference('a reference in a list', [fine, create({ title: 'x', tags: [{ $ref: 'x.id' }] })], 1, 'tags'),
      reference('a reference as id', [fine, on('delete', 'orders', { id: { $ref: 'x.id' } })], 1, 'id'),
      reference(
        'a reference to a delete',
        [{ ...fine, id: 'a' }, on('delete', 'orders', { id: 'a', as: 'del' }), create({ title: { $ref: 'del.id' } })],
        2,
      ),
      batch('§5.2', 'an unknown collection', [fine, on('create', 'nothing')], refusedAt(404, 1)),
      batch('§5.2', 'a closed rule', [fine, on('create', 'closed')], refusedAt(403, 1)),
      batch('§5.2', 'a closed rule of an upsert', [fine, on('upsert', 'closed', { id: 'x' })], refusedAt(403, 1)),
      batch('§5.2', 'a missing record', [fine, on('delete', 'orders', { id: 'x' })], refusedAt(404, 1)),
      batch(
        '§5.2',
        'a reserved id',
        [fine, create({ title: 'x' }, { id: 'search' })],
        refusedAt(422, 1, { id: is.text }),
      ),
      batch('§5.2', 'an id with NUL', [fine, on('update', 'orders', { id: 'a\0b', data: {} })], refusedAt(404, 1)),
      batch('§5.2', 'fields', [fine, create({ total: 'x' })], refusedAt(422, 1, { title: is.text, total: is.text })),
      batch('§5.2', 'a field with the name index', [fine, create({ title: 'x', index: 6 })], {
        status: 422,
        json: { error: is.matching(/: index .*5/), code: 'validation_failed', details: { index: 1 } },
      }),
      batch(
        '§5.2',
        'the second of two with one unique value',
        [create({ title: 'a', slug: 's' }), create({ title: 'b', slug: 't' }), create({ title: 'c', slug: 's' })],
        refusedAt(422, 2, { slug: is.text }),
      ),
      batch(
        '§5.2',
        'an unknown field of an upsert',
        [fine, on('upsert', 'orders', { on: 'total', data: {} })],
        refusedAt(400, 1, { on: is.text }),
      ),
      batch(
        '§4.5',
        'another version',
        [{ ...fine, id: 'a' }, on('delete', 'orders', { id: 'a', if_match: 'W/"1"' })],
        refusedAt(412, 1, { etag: is.etag }),
      ),
      {
        ...batch('§1.2', 'another member of the body', [], refusedAt(422, 0)),
        body: { operations: [], other: 1 },
        expect: { status: 422, json: is.containing({ details: { other: is.text } }) },
      },
      {
        ...batch('§1.2', 'no operations', [], refusedAt(422, 0)),
        body: {},
        expect: { status: 422, json: is.containing({ details: { operations: is.text } }) },
      },
      {
        ...batch('§1.2', 'operations that are not a list', [], refusedAt(422, 0)),
        body: { operations: {} },
        expect: { status: 422 },
      },
      raw('no JSON', '{"operations":[', malformed),
      raw('no JSON in an operation', '{"operations":[{"op":"create","collection":"no_orders"},{]}', malformed),
      raw('an empty operation', '{"operations":[{},]}', {
        status: 400,
        json: is.containing({ details: { index: 1 } }),
      }),
      raw('two lists', '{"operations":[{}],"operations":[{}]}', malformed),
      raw('text behind the body', '{"operations":[]} x', malformed),
      raw('a list', '[]', malformed),
      raw(
        'an operation that is too large',
        JSON.stringify({ operations: [fine, { ...fine, data: { title: 'x'.repeat(1024 * 1024) } }] }),
        refusedAt(413, 1),
      ),
      raw('a deep operation', `{"operations":[${'['.repeat(1001)}${']'.repeat(1001)}]}`, refusedAt(400, 0)),
      batch(
        '§1.2',
        'references that make a batch too large',
        [long, ...Array(999).fill(create({ title: { $ref: 'long.title' } }))],
        // 16 MiB hold 559 such texts. The operations themselves have 70 kB.
        { status: 413, json: is.containing({ code: 'payload_too_large', details: { index: 556 } }) },
      ),
      batch(
        '§1.2',
        'references that make an operation too large',
        [long, create({ title: 'x', tags: Array(40).fill({ $ref: 'long.title' }) })],
        refusedAt(413, 1),
      ),
      raw('a body that is too large', `{"operations":[${' '.repeat(16 * 1024 * 1024)}]}`, { status: 413 }),
      raw(
        '1,001 operations',
        `{"operations":[${Array(1001).fill('{}').join()}]}`,
        refusedAt(422, 1000, { operations: is.text }),
      ),
      raw('more text than operations', `{"operations":[],"other":"${'x'.repeat(20_000)}"}`, malformed),
      raw(
        'a large body',
        JSON.stringify({
          operations: Array(20).fill({ ...fine, as: undefined, data: { title: 'x'.repeat(200_000) } }),
        }),
        { status: 200 },
        '§1.2',
      ),
    ].map((row) => (row.name === 'a large body' ? { ...row, events: Array(20).fill('no_orders.create') } : row)),
  );
});
