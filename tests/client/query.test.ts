import assert from 'node:assert/strict';
import { createClient, RecordbusError } from '@recordbus/client';
import { eventually } from '../harness/eventually.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const rule = '@request.query.key = "open"';
const rules = { list_rule: rule, view_rule: rule, create_rule: rule, update_rule: rule, delete_rule: rule };
const options = { query: { key: 'open' } };

const isRefused = (error: unknown): boolean => error instanceof RecordbusError && [403, 404].includes(error.status);

onEachTopology('rules read the query in each client call', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'title', type: 'text', options: { unique: true } }];
  await admin.post('/api/v1/collections', { name: 'doors', fields, ...rules });
  await admin.post('/api/v1/collections', { name: 'guards', type: 'auth', fields: [], ...rules });
  const client = createClient(target.url);
  const doors = client.from('doors');

  await t.test('records are created, read, changed and deleted', async () => {
    await assert.rejects(doors.create({ title: 'shut' }), isRefused);
    const made = await doors.create({ title: 'a' }, options);
    await assert.rejects(doors.get(made.id), isRefused);
    assert.deepEqual((await doors.list()).data, []);
    assert.equal((await doors.get(made.id, options)).title, 'a');
    assert.equal((await doors.list(options)).totalItems, 1);
    assert.equal((await doors.first({ sort: 'title', ...options }))?.id, made.id);
    const all: string[] = [];
    for await (const { id } of doors.all({ perPage: 1, ...options })) all.push(id);
    assert.deepEqual(all, [made.id]);
    assert.deepEqual((await doors.aggregate({ count: true, ...options })).data, [{ count: 1 }]);
    assert.match(await (await doors.export({ format: 'csv', ...options })).text(), /,a,|,a$/m);
    await assert.rejects(doors.update(made.id, { title: 'b' }), isRefused);
    assert.equal((await doors.update(made.id, { title: 'b' }, options)).title, 'b');
    assert.equal((await doors.upsert({ on: ['title'] }, { title: 'b' }, options)).id, made.id);
    const { both } = await client.batch(
      (batch) => ({ both: [batch.from('doors').create({ title: 'c' }), batch.from('doors').create({ title: 'd' })] }),
      options,
    );
    assert.equal(both.length, 2);
    await assert.rejects(doors.delete(made.id), isRefused);
    await doors.delete(made.id, options);
    assert.equal((await doors.list(options)).totalItems, 2);
  });

  await t.test('an account signs up', async () => {
    const account = { email: 'ann@example.com', password: 'correct horse battery' };
    const guards = client.auth('guards');
    await assert.rejects(guards.register(account), isRefused);
    assert.equal((await guards.register(account, options)).state, 'signed_in');
    await guards.logout();
  });

  for (const over of ['stream', 'websocket'] as const)
    await t.test(`changes are followed, each query over a connection of its own (${over})`, async () => {
      const follower = createClient(target.url, { live: { over } }).from('doors');
      const [open, shut] = [await follower.live(options), await follower.live()];
      const changes: string[] = [];
      const subscription = await follower.subscribe({ ...options, onMessage: ({ type }) => changes.push(type) });
      const before = open.total;
      assert.ok(before >= 2);
      await doors.create({ title: `live ${over}` }, options);
      await eventually('the change arrives', () => open.total === before + 1 && changes.includes('create'));
      assert.deepEqual(shut.records, []);
      for (const one of [open, shut, subscription]) one.close();
    });
});
