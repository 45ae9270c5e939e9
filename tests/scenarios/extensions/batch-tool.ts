import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { openBusReader } from '../../harness/clients/bus-reader.ts';
import { eventually } from '../../harness/eventually.ts';
import { at } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { countOf, done, refusedAt, result, sendBatch } from '../batch-shop.ts';

/** `records.batch`, and record batches with hooks. */
export async function batchTool(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const fields = [
    { name: 'name', type: 'text' },
    { name: 'seen', type: 'number' },
  ];
  const define = (name: string, rules: object = {}) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, ...rules });
  await define('hooked_things');
  await define('hooked_notes', { create_rule: 'name != "no"' });
  const create = (collection: string, name: string, more: object = {}) => ({
    op: 'create',
    collection: `hooked_${collection}`,
    data: { name },
    ...more,
  });
  const sent = (name: string, body: object, expect: Scenario['expect'], ...events: readonly string[]): Scenario => ({
    name,
    request: 'POST /api/x/batch',
    body,
    expect,
    events: events.map((label) => `hooked_${label}`),
    spec: 'extensions §6.1',
  });
  const two = [create('notes', 'a', { as: 'a' }), create('notes', 'b', { id: { $ref: 'a.name' } })];
  const wrote = done(result(201, { name: 'a' }), result(201, { id: 'a', name: 'b' }));
  await runScenarios(t, target, [
    sent('a batch', { operations: two }, wrote, 'notes.create', 'notes.create'),
    sent('the id of a record', { operations: two }, refusedAt(412, 1, { etag: is.etag })),
    sent(
      'a rule of a caller',
      { as: 'guest', operations: [create('notes', 'x'), create('notes', 'no')] },
      refusedAt(403, 1),
    ),
    sent(
      'no rule of the extension',
      { operations: [create('notes', 'no')] },
      done(result(201, { name: 'no' })),
      'notes.create',
    ),
    sent('a wrong operation', { operations: [create('notes', 'x'), { op: 'x' }] }, refusedAt(422, 1, { op: is.text })),
    sent(
      'a transaction',
      { within: 'transaction', operations: [create('notes', 't1'), create('notes', 't2')] },
      done(result(201, { name: 't1' }), result(201, { name: 't2' })),
      'notes.create',
      'notes.create',
    ),
    sent(
      'a transaction that is rolled back',
      { within: 'rolled back', operations: [create('notes', 'r')] },
      refused.conflict,
    ),
    sent(
      'hooks',
      {
        operations: [
          create('things', 'h', { as: 'h' }),
          { op: 'update', collection: 'hooked_things', id: { $ref: 'h.id' }, data: { name: 'i' } },
        ],
      },
      done(result(201, { name: 'h', seen: 5 }), result(200, { name: 'i!' })),
      'notes.create',
      'things.create',
      'things.update',
    ),
  ]);

  await t.test('each hook sees what earlier operations and their hooks wrote [batch §4.1]', async () => {
    const before = await countOf(admin, 'hooked_notes');
    const operations = Array.from({ length: 5 }, (_, n) => create('things', `s${n}`));
    const { json } = await sendBatch(target.guest, operations);
    const seen = operations.map((_, index) => at(json, `data.${index}.data.seen`));
    assert.deepEqual(
      seen,
      operations.map((_, index) => before + index),
    );
  });

  await t.test('a hook that refuses the 50th operation refuses the batch [batch §4.2]', async () => {
    const [things, notes] = [await countOf(admin, 'hooked_things'), await countOf(admin, 'hooked_notes')];
    const operations = Array.from({ length: 60 }, (_, n) => create('things', n === 49 ? 'refused' : `r${n}`));
    const { status, json, text } = await sendBatch(target.guest, operations);
    assert.deepEqual([status, at(json, 'details'), at(json, 'error')], [409, { index: 49 }, 'not this one'], text);
    assert.deepEqual([await countOf(admin, 'hooked_things'), await countOf(admin, 'hooked_notes')], [things, notes]);
    // The hooks counted notes that were never committed.
    assert.equal(at((await admin.get('/api/v1/hooked_notes')).json, 'totalItems'), notes);
  });

  await t.test("hooks' writes have their operation's index [batch §4.4]", async () => {
    if (target.natsUrl === undefined) return;
    await using bus = await openBusReader(target.natsUrl, { isFromNow: true });
    const requestId = randomUUID();
    await sendBatch(target.guest, [create('notes', 'x'), create('things', 'y')], { 'X-Request-Id': requestId });
    const found = () => bus.events.filter(({ body }) => body.request_id === requestId);
    await eventually('three events', () => found().length >= 3);
    const places = found().map(({ body }) => `${body.event} ${at(body, 'batch.index')}`);
    assert.deepEqual(places.sort(), ['hooked_notes.create 0', 'hooked_notes.create 1', 'hooked_things.create 1']);
  });
}
