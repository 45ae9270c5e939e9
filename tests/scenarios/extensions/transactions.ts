import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at, numberAt } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';

const spec = 'extensions §6.8';

export async function transactions(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const { guest } = target;
  const name = { name: 'name', type: 'text', options: { unique: true } };
  await admin.define('transfers', [name]);
  await admin.define('transfer_vault', [name], { create_rule: '' });
  await admin.define('transfer_notes', [{ name: 'text', type: 'text' }]);
  await admin.define('transfer_counters', [{ name: 'n', type: 'number' }]);
  await guest.create('transfers', { name: 'taken' });
  const sent = (title: string, body: object, expect: Scenario['expect'], more: Partial<Scenario> = {}): Scenario => ({
    name: title,
    request: 'POST /api/x/transfers',
    body,
    expect,
    spec,
    ...more,
  });
  const done = (data: unknown) => ({ status: 200, json: { data } });
  const created = (count: number) => Array<string>(count).fill('transfers.create');
  await runScenarios(t, target, [
    sent('all writes commit', { names: ['a', 'b'] }, done(null), { events: created(2) }),
    sent('a refused write rolls back the others', { names: ['c', 'taken'] }, refused.invalid('name')),
    sent('an error rolls back all writes', { names: ['d', 'e'], how: 'refuses' }, refused.conflict),
    sent('a refused write rolls back the writes of hooks', { names: ['hooked', 'taken'] }, refused.invalid('name')),
    sent('a refused write that is caught is rolled back alone', { names: ['f', 'taken', 'g'] }, done(['taken']), {
      request: 'POST /api/x/transfers/caught',
      events: created(2),
    }),
    sent('events are published with the commit', { names: ['h'], how: 'dispatches' }, done(null), {
      events: ['transfers.create', 'transfer.done'],
    }),
    sent('no event is published without the commit', { names: ['i'], how: 'dispatches and refuses' }, refused.conflict),
    sent('no value is stored without the commit', {}, done(1), { request: 'GET /api/x/transfers/done' }),
    sent('a write as the caller obeys the rules', { names: ['j'], how: 'is refused to the caller' }, refused.forbidden),
    sent(
      'a write as an admin passes every rule',
      { names: ['k'], how: 'is refused to the caller' },
      { status: 200 },
      {
        as: 'admin',
        events: ['transfers.create', 'transfer_vault.create'],
      },
    ),
    sent('a transaction reads its own writes', { names: ['l'], how: 'sees what it wrote' }, done(is.number), {
      events: created(1),
    }),
    ...['inner', 'outer'].map((how) =>
      sent(`a nested transaction is refused (${how})`, { how }, done(is.matching(/transactions do not nest$/)), {
        request: 'POST /api/x/transfers/nested',
      }),
    ),
    sent('tools fail after the end of their transaction', {}, done(is.matching(/the transaction is over$/)), {
      request: 'POST /api/x/transfers/leaks',
    }),
  ]);

  const namesThere = async () => {
    const { json } = await guest.get('/api/v1/transfers?perPage=100&sort=name&fields=name');
    return (at(json, 'data') as { name: string }[]).map((row) => row.name).join();
  };
  await t.test('only committed writes are stored', async () => {
    assert.equal(await namesThere(), 'a,b,f,g,h,k,l,taken');
    assert.equal(numberAt((await guest.get('/api/v1/transfer_notes')).json, 'totalItems'), 0);
  });

  await t.test('each of 30 parallel transactions sees what the previous one left', async () => {
    const { id } = await guest.create('transfer_counters', { n: 0 });
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => guest.send('POST', '/api/x/transfers/count', { body: { id } })),
    );
    const sums = answers.map(({ json }) => at(json, 'data'));
    assert.deepEqual(
      sums.toSorted((a, b) => Number(a) - Number(b)),
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
  });

  await t.test('two transactions that lock the same records in different orders both commit', async () => {
    const [one, two] = [
      await guest.create('transfer_counters', { n: 0 }),
      await guest.create('transfer_counters', { n: 0 }),
    ];
    const cross = (...ids: string[]) => guest.send('POST', '/api/x/transfers/cross', { body: { ids } });
    const answers = await Promise.all([cross(one.id, two.id), cross(two.id, one.id)]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    for (const { id } of [one, two])
      assert.equal(numberAt((await guest.get(`/api/v1/transfer_counters/${id}`)).json, 'data.n'), 2);
  });

  await t.test("a failed cron's transaction is rolled back", async () => {
    const path = '/api/v1/admin/crons/transfers.moves';
    await admin.post(`${path}/run`, {}, 202);
    const run = await eventually('the run has ended', async () => {
      const { json } = await admin.get(`${path}/runs`);
      return at(json, 'data.0.status') === 'failed' ? at(json, 'data.0.error') : undefined;
    });
    assert.match(String(run), /validation failed/);
    assert.doesNotMatch(await namesThere(), /cron/);
  });
}
