import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { at } from '../harness/json.ts';
import { onOneProcess, type Target } from '../harness/stacks/target.ts';
import { countsOf, imported, linesOf, operationsOn, refusedRows } from './import-jobs.ts';

/** Creates a collection whose records refer to each other. */
async function openTree(target: Target, name: string, { required = false } = {}): Promise<Client> {
  const admin = await target.admin();
  const fields: object[] = [{ name: 'title', type: 'text' }];
  await admin.post('/api/v1/collections', { name, type: 'base', fields, history_enabled: true });
  const relation = { type: 'relation', collection: name };
  await admin.patch(`/api/v1/collections/${name}`, {
    fields: [
      ...fields,
      { name: 'parent', ...relation, required },
      { name: 'friends', ...relation, options: { multiple: true } },
    ],
  });
  return admin;
}

const keeping = { format: 'ndjson', keep: 'id' } as const;

/** A record, and the operations in its history, oldest first. */
async function read(admin: Client, collection: string, id: string) {
  const record = at((await admin.get(`/api/v1/${collection}/${id}`)).json, 'data');
  return {
    parent: at(record, 'parent'),
    friends: at(record, 'friends'),
    ops: await operationsOn(admin, collection, id),
  };
}

onOneProcess('an import whose records refer to later ones', async (t, target) => {
  await t.test('within a chunk are written at once [import §6.1]', async () => {
    const admin = await openTree(target, 'near');
    const rows = [{ id: 'a', parent: 'b' }, { id: 'b', parent: 'c', friends: ['a', 'c'] }, { id: 'c' }];
    const job = await imported(admin, 'near', keeping, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 3, read: 3, done: 3 });
    assert.deepEqual(await read(admin, 'near', 'b'), { parent: 'c', friends: ['a', 'c'], ops: ['create'] });
    assert.deepEqual(await read(admin, 'near', 'a'), { parent: 'b', friends: [], ops: ['create'] });
  });

  await t.test('to later rows are written once the target exists [import §6.2]', async () => {
    const admin = await openTree(target, 'far');
    const between = Array.from({ length: 1500 }, (_, n) => ({ id: `m${n}` }));
    const rows = [
      { id: 'child', parent: 'top', friends: ['m1', 'top'] },
      { id: 'dangling', parent: 'nowhere' },
      ...between,
      { id: 'top' },
      { id: 'late', parent: 'child' },
    ];
    const job = await imported(admin, 'far', keeping, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 1504, read: 1504, done: 1503, refused: 1 });
    assert.deepEqual(await read(admin, 'far', 'child'), { parent: 'top', friends: ['m1', 'top'], ops: ['create'] });
    assert.deepEqual(await read(admin, 'far', 'late'), { parent: 'child', friends: [], ops: ['create'] });
    assert.equal(
      await refusedRows(admin, job),
      '{"id":"dangling","parent":"nowhere","_refused":{"parent":"refers to no record"}}\n',
    );
    assert.equal((await admin.get('/api/v1/far/dangling')).status, 404);
  });

  await t.test('in a circle are first written without the value [import §6.2]', async () => {
    const admin = await openTree(target, 'circle');
    const between = Array.from({ length: 1200 }, (_, n) => ({ id: `m${n}` }));
    const rows = [{ id: 'a', parent: 'b' }, ...between, { id: 'b', parent: 'a', friends: ['a', 'm0'] }];
    const job = await imported(admin, 'circle', keeping, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 1202, read: 1202, done: 1202 });
    assert.equal((await read(admin, 'circle', 'a')).parent, 'b');
    const b = await read(admin, 'circle', 'b');
    assert.deepEqual([b.parent, b.friends], ['a', ['a', 'm0']]);
  });

  await t.test(
    'in a circle of required relations within one chunk works, and further apart does not [import §6.2]',
    async () => {
      const admin = await openTree(target, 'strict', { required: true });
      const near = [
        { id: 'a', parent: 'b' },
        { id: 'b', parent: 'a' },
        { id: 'self', parent: 'self' },
      ];
      assert.deepEqual(countsOf(await imported(admin, 'strict', keeping, linesOf(near))), {
        total: 3,
        read: 3,
        done: 3,
      });
      const between = Array.from({ length: 1200 }, (_, n) => ({ id: `m${n}`, parent: n < 800 ? 'y' : 'a' }));
      const far = [
        { id: 'x', parent: 'y' },
        { id: 'deep', parent: 'deeper' },
        ...between,
        { id: 'y', parent: 'x' },
        { id: 'deeper', parent: 'deepest' },
        { id: 'deepest', parent: 'a' },
      ];
      const job = await imported(admin, 'strict', keeping, linesOf(far));
      assert.deepEqual(countsOf(job), { total: 1205, read: 1205, done: 403, refused: 802 });
      assert.deepEqual(await read(admin, 'strict', 'deep'), { parent: 'deeper', friends: [], ops: ['create'] });
      const refused = (await refusedRows(admin, job)).trim().split('\n');
      assert.deepEqual(
        [refused.length, refused[0], refused.at(-1)],
        [
          802,
          '{"id":"x","parent":"y","_refused":{"parent":"refers to no record"}}',
          '{"id":"y","parent":"x","_refused":{"parent":"refers to no record"}}',
        ],
      );
    },
  );

  await t.test('need kept ids [import §6.1]', async () => {
    const admin = await openTree(target, 'unkept');
    const job = await imported(admin, 'unkept', { format: 'ndjson' }, linesOf([{ id: 'a', parent: 'b' }, { id: 'b' }]));
    assert.deepEqual(countsOf(job), { total: 2, read: 2, done: 1, refused: 1 });
  });

  await t.test('also changes records [import §6.2]', async () => {
    const admin = await openTree(target, 'changed');
    await imported(admin, 'changed', keeping, linesOf([{ id: 'old' }, { id: 'lost' }]));
    const between = Array.from({ length: 1200 }, (_, n) => ({ id: `m${n}` }));
    const rows = [
      { id: 'old', parent: 'new' },
      { id: 'lost', parent: 'gone' },
      ...between,
      { id: 'new', parent: 'old' },
    ];
    const job = await imported(admin, 'changed', { format: 'ndjson', mode: 'upsert' }, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 1203, read: 1203, done: 1202, refused: 1 });
    assert.deepEqual(await read(admin, 'changed', 'old'), { parent: 'new', friends: [], ops: ['create', 'update'] });
    assert.deepEqual(await read(admin, 'changed', 'lost'), { parent: null, friends: [], ops: ['create'] });
  });

  await t.test('to another collection need existing targets [import §6.1]', async () => {
    const admin = await openTree(target, 'targets');
    await admin.post('/api/v1/collections', {
      name: 'referrers',
      type: 'base',
      fields: [{ name: 'to', type: 'relation', collection: 'targets' }],
    });
    await imported(admin, 'targets', keeping, linesOf([{ id: 't' }]));
    const rows = Array.from({ length: 50 }, (_, n) => ({ to: n % 7 === 3 ? 'none' : 't' }));
    const job = await imported(admin, 'referrers', { format: 'ndjson' }, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 50, read: 50, done: 43, refused: 7 });
  });
});
