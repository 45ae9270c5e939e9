import { is } from '../harness/matching.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { batch, deleted, done, openShop, refusedAt, result } from './batch-shop.ts';

onEachTopology('a batch does its operations', async (t, target) => {
  await openShop(target, 'done');
  const on = (op: string, collection: string, more: object) => ({ op, collection: `done_${collection}`, ...more });
  const create = (collection: string, data: object, more: object = {}) => on('create', collection, { data, ...more });
  const events = (...labels: readonly string[]) => ({ events: labels.map((label) => `done_${label}`) });
  await runScenarios(t, target, [
    batch('§1.1', 'no operations', [], done()),
    batch(
      '§2.2',
      'a create',
      [create('tags', { name: 'a' })],
      done(result(201, { name: 'a', id: is.uuidV7 })),
      events('tags.create'),
    ),
    batch(
      '§2.2',
      'a create at an id',
      [create('tags', { name: 'b' }, { id: 'b' })],
      done(result(201, { id: 'b', name: 'b' })),
      events('tags.create'),
    ),
    batch(
      '§2.2',
      'a create at the id of a record',
      [create('tags', { name: 'c' }, { id: 'b' })],
      refusedAt(412, 0, { etag: is.etag }),
    ),
    batch(
      '§2.2',
      'each operation',
      [
        create('orders', { title: 'first' }, { id: 'one' }),
        on('update', 'orders', { id: 'one', data: { total: { $add: 3 } } }),
        on('upsert', 'orders', { id: 'one', data: { slug: 'first' } }),
        on('upsert', 'orders', { id: 'two', data: { title: 'second' } }),
        on('upsert', 'orders', { on: 'slug', data: { slug: 'first', total: { $add: 4 } } }),
        on('upsert', 'orders', { on: ['slug'], data: { slug: 'third', title: 'third' } }),
        on('delete', 'orders', { id: 'two' }),
      ],
      done(
        result(201, { id: 'one', title: 'first', total: 0 }),
        result(200, { id: 'one', total: 3 }),
        result(200, { id: 'one', slug: 'first', total: 3 }),
        result(201, { id: 'two', title: 'second' }),
        result(200, { id: 'one', total: 7 }),
        result(201, { slug: 'third', id: is.uuidV7 }),
        deleted,
      ),
      events(...['create', 'update', 'update', 'create', 'update', 'create', 'delete'].map((verb) => `orders.${verb}`)),
    ),
    batch(
      '§3.2',
      'references',
      [
        create('tags', { name: 'new' }, { as: 'tag' }),
        create('orders', { title: 'x', tags: [{ $ref: 'tag.id' }], meta: { $ref: 'tag.id' } }, { as: 'order' }),
        create('lines', { name: { $ref: 'tag.name' }, order: { $ref: 'order.id' } }),
        create('lines', { name: 'y', order: { $ref: 'order.id' } }, { as: 'line' }),
        on('update', 'lines', { id: { $ref: 'line.id' }, data: { name: { $ref: 'order.meta.$ref' } } }),
        on('update', 'orders', { id: 'one', data: { tags: { $append: [{ $ref: 'tag.id' }, 'b'] } } }),
        on('update', 'orders', { id: { $ref: 'order.id' }, data: { total: { $ref: 'order.created' } } }),
      ],
      done(
        result(201, { name: 'new' }),
        result(201, { title: 'x', tags: is.listWith(is.uuidV7), meta: { $ref: 'tag.id' } }),
        result(201, { name: 'new', order: is.uuidV7 }),
        result(201, { name: 'y', order: is.uuidV7 }),
        result(200, { name: 'tag.id' }),
        result(200, { id: 'one', tags: is.listWith('b') }),
        result(200, { total: is.now }),
      ),
      events(
        'tags.create',
        'orders.create',
        ...['create', 'create', 'update'].map((verb) => `lines.${verb}`),
        'orders.update',
        'orders.update',
      ),
    ),
    batch(
      '§4.1',
      'a rule that sees earlier operations',
      [create('few', { name: 'a' }), create('few', { name: 'b' }), create('few', { name: 'a' })],
      refusedAt(403, 2),
    ),
    batch(
      '§4.3',
      'records with unique values',
      ['a', 'b', 'c'].map((id) => create('orders', { title: id, slug: `u${id}` }, { id: `u${id}` })),
      done(result(201, { slug: 'ua' }), result(201, { slug: 'ub' }), result(201, { slug: 'uc' })),
      events('orders.create', 'orders.create', 'orders.create'),
    ),
    ...[
      ['ua', 'ub'],
      ['ub', 'ua'],
    ].map(([first, second]) =>
      batch(
        '§4.3',
        `a unique value that a later operation frees, of ${second}`,
        [
          on('update', 'orders', { id: first, data: { slug: second } }),
          on('update', 'orders', { id: second, data: { slug: 'free' } }),
        ],
        refusedAt(422, 0, { slug: is.text }),
      ),
    ),
    batch(
      '§4.3',
      'unique values that move from record to record',
      [
        on('update', 'orders', { id: 'uc', data: { slug: 'ud' } }),
        on('update', 'orders', { id: 'ub', data: { slug: 'uc' } }),
        on('update', 'orders', { id: 'ua', data: { slug: 'ub' } }),
      ],
      done(result(200, { slug: 'ud' }), result(200, { slug: 'uc' }), result(200, { slug: 'ub' })),
      events('orders.update', 'orders.update', 'orders.update'),
    ),
    batch(
      '§4.3',
      'a rule of updates that sees earlier ones',
      [
        on('create', 'chain', { id: 'one', data: { n: 1 } }),
        on('create', 'chain', { id: 'two', data: { n: 1, of: 'one' } }),
        on('update', 'chain', { id: 'one', data: { n: 2 } }),
        on('update', 'chain', { id: 'two', data: { n: 3 } }),
      ],
      refusedAt(403, 3),
    ),
    batch(
      '§4.3',
      'a rule of deletes that sees earlier ones',
      [
        on('create', 'few', { id: 'f1', data: { name: 'f1' } }),
        on('create', 'few', { id: 'f2', data: { name: 'f2' } }),
        on('delete', 'few', { id: 'f1' }),
        on('delete', 'few', { id: 'f2' }),
      ],
      refusedAt(403, 3),
    ),
    batch(
      '§4.1',
      'a unique value that an earlier operation frees',
      [
        on('update', 'orders', { id: 'one', data: { slug: 'moved' } }),
        create('orders', { title: 'z', slug: 'first' }),
        on('delete', 'orders', { id: 'one' }),
        create('orders', { title: 'z', slug: 'moved' }),
      ],
      done(result(200, { slug: 'moved' }), result(201, { slug: 'first' }), deleted, result(201, { slug: 'moved' })),
      events('orders.update', 'orders.create', 'orders.delete', 'orders.create'),
    ),
    batch(
      '§2.2',
      'a cascade, and an update of what it deleted',
      [
        create('orders', { title: 'gone' }, { id: 'gone' }),
        create('lines', { name: 'gone', order: 'gone' }, { id: 'line' }),
        on('delete', 'orders', { id: 'gone' }),
        on('update', 'lines', { id: 'line', data: { name: 'x' } }),
      ],
      refusedAt(404, 3),
    ),
  ]);
});
