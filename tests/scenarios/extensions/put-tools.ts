import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { at, type JsonObject, listAt } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';

const spec = 'extensions §6.1';

/** `records.put` and `records.upsert`, with a PUT's rules and hooks. */
export async function putTools(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const { guest } = target;
  const fields = [
    { name: 'slug', type: 'text', options: { unique: true } },
    { name: 'year', type: 'number' },
    { name: 'place', type: 'text' },
    { name: 'n', type: 'number', options: { default: 1 } },
    { name: 'hook', type: 'text' },
    { name: 'secret', type: 'text', write_rule: '' },
  ];
  const define = (name: string, rules: object) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, ...rules });
  await define('put_things', { update_rule: 'slug != "kept" && @request.method = "PUT"', create_rule: 'slug != "no"' });
  await define('put_closed', { create_rule: '', update_rule: '' });
  const index = { name: 'by_year', columns: ['year', 'place'], unique: true };
  await admin.post('/api/v1/admin/collections/put_things/indexes', index);

  const sent = (name: string, given: object, expect: Scenario['expect'], event?: string): Scenario => ({
    name,
    request: 'POST /api/x/put',
    body: { collection: 'put_things', ...given },
    expect,
    ...(event !== undefined && { events: [`put_things.${event}`] }),
    spec,
  });
  const shows = (data: JsonObject) => ({ status: 200, json: { data: is.containing(data) } });
  const badOn = refused.malformedWith({ on: is.text });
  const details = { secret: 'may not be written by this caller' };
  const notWritten = { status: 403, json: { error: is.text, code: 'forbidden', details } };
  const create = { hook: 'create' };
  const update = { hook: 'update' };
  const pair = { year: 2026, place: 'here' };
  await runScenarios(t, target, [
    sent(
      'a put without a record',
      { id: 'one', values: { slug: 'a' } },
      shows({ ...create, id: 'one', n: 1 }),
      'create',
    ),
    sent('a put of a record', { id: 'one', values: { n: 5 } }, shows({ ...update, slug: 'a', n: 5 }), 'update'),
    sent('a put with an operator', { id: 'one', values: { n: { $add: 2 } } }, shows({ ...update, n: 7 }), 'update'),
    sent('a put at an id that is none', { id: 'o n e', values: {} }, refused.invalid('id')),
    sent('a put at a reserved id', { id: 'search', values: {} }, refused.invalid('id')),
    sent('a put with a wrong value', { id: 'one', values: { n: 'x' } }, refused.invalid('n')),
    sent('a put in no collection', { collection: 'nothing', id: 'one', values: {} }, refused.notFound),
    sent('an upsert of a record', { on: 'slug', values: { slug: 'a', n: 8 } }, shows({ id: 'one', n: 8 }), 'update'),
    sent(
      'an upsert without a record',
      { on: 'slug', values: { slug: 'b' } },
      shows({ ...create, id: is.uuidV7 }),
      'create',
    ),
    sent('an upsert on an index', { on: ['year', 'place'], values: pair }, shows({ ...create, ...pair }), 'create'),
    sent('an upsert on its text', { on: 'place, year', values: { ...pair, n: 3 } }, shows({ n: 3 }), 'update'),
    sent('an upsert on a field that is not unique', { on: 'n', values: { n: 1 } }, badOn),
    sent('an upsert on nothing', { values: { n: 1 } }, badOn),
    sent('an upsert without the value', { on: 'slug', values: {} }, refused.invalid('slug')),
    sent(
      'a guest who may create',
      { as: 'guest', id: 'two', values: { slug: 'c' } },
      shows({ ...create, id: 'two' }),
      'create',
    ),
    sent('a guest who may change by a PUT', { as: 'guest', id: 'two', values: { n: 2 } }, shows(update), 'update'),
    sent('a guest whom the create rule refuses', { as: 'guest', id: 'no', values: { slug: 'no' } }, refused.forbidden),
    sent('a record that nobody changes', { id: 'kept', values: { slug: 'kept' } }, shows(create), 'create'),
    sent('a guest whom the update rule refuses', { as: 'guest', id: 'kept', values: { n: 9 } }, refused.forbidden),
    sent('the caller of the route', { as: 'caller', id: 'kept', values: { n: 9 } }, refused.forbidden),
    sent('a field that a guest may not write', { as: 'guest', id: 'two', values: { secret: 'x' } }, notWritten),
    sent('closed rules', { as: 'guest', collection: 'put_closed', id: 'x', values: {} }, refused.forbidden),
    sent(
      'a transaction',
      { within: 'transaction', id: 'three', values: { slug: 'd' } },
      shows({ ...create, id: 'three' }),
      'create',
    ),
    sent('a transaction that is rolled back', { within: 'rolled back', id: 'four', values: {} }, refused.conflict),
  ]);

  await t.test('a transaction that is rolled back leaves nothing [extensions §6.8]', async () => {
    assert.equal((await guest.get('/api/v1/put_things/four')).status, 404);
  });

  for (const within of ['nothing', 'transaction'])
    await t.test(`of 20 calls at once, one creates (within ${within}) [records §17.1]`, async () => {
      const values = { slug: `race ${within}`, n: { $add: 1 } };
      const put = () =>
        guest.send('POST', '/api/x/put', { body: { collection: 'put_things', on: 'slug', values, within } });
      const answers = await Promise.all(Array.from({ length: 20 }, put));
      for (const { status, text } of answers) assert.equal(status, 200, text);
      assert.equal(answers.filter(({ json }) => at(json, 'data.hook') === 'create').length, 1);
      const { json } = await guest.get(`/api/v1/put_things?filter=${encodeURIComponent(`slug = "race ${within}"`)}`);
      assert.equal(listAt(json, 'data').length, 1);
      assert.equal(at(listAt(json, 'data')[0], 'n'), 20);
    });
}
