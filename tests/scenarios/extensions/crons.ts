import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { listAt } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';

const spec = 'extensions §5.3';

export async function crons(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const path = '/api/v1/admin/crons';
  const run = is.containing({ id: is.uuid, cron: 'clock.tidy', tick: null, cause: 'manual', started_at: is.now });
  const tidy = {
    name: 'clock.tidy',
    extension: 'clock',
    schedule: '30 3 * * 1-5',
    time_zone: 'Europe/Vienna',
    missed: 'run once',
    timeout_ms: 60_000,
    next_run_at: is.number,
    last_run: null,
  };
  const row = (label: string, as: Scenario['as'], request: string, expect: Scenario['expect']): Scenario => ({
    name: label,
    ...(as && { as }),
    request,
    expect,
    spec,
  });
  await runScenarios(t, target, [
    row('the list of crons', 'admin', `GET ${path}`, { status: 200, json: { data: is.listWith(tidy) } }),
    row('the list for a user', 'user', `GET ${path}`, refused.forbidden),
    row('a run by a guest', 'guest', `POST ${path}/clock.tidy/run`, refused.unauthenticated),
    row('runs of an unknown cron', 'admin', `GET ${path}/clock.none/runs`, refused.notFound),
    row('a run of an unknown cron', 'admin', `POST ${path}/clock.none/run`, refused.notFound),
    row('a cron that has not run yet', 'admin', `GET ${path}/clock.tidy/runs`, {
      status: 200,
      json: is.containing({ data: [], totalItems: 0 }),
    }),
    row('a run by an admin', 'admin', `POST ${path}/clock.tidy/run`, { status: 202, json: { data: run } }),
  ]);
  const lastRun = (cron: string, status: string) =>
    eventually(`the run of ${cron} is ${status}`, async () => {
      const [last] = listAt((await admin.get(`${path}/clock.${cron}/runs`)).json, 'data');
      if (last?.status !== status) throw new Error(JSON.stringify(last));
      return last;
    });
  await t.test('a run is listed', async () => {
    assert.equal((await lastRun('tidy', 'success')).error, null);
  });
  await t.test('a run by an admin is audited [extensions §5.3]', async () => {
    const { json } = await admin.get('/api/v1/admin/audit?action=crons.run');
    assert.deepEqual(
      listAt(json, 'data').flatMap(({ target_id }) => (String(target_id).startsWith('clock.') ? [target_id] : [])),
      ['clock.tidy'],
    );
  });
  await t.test('a failed run shows its error to admins [extensions §5.3]', async () => {
    await admin.post(`${path}/clock.fails/run`, {}, 202);
    assert.equal((await lastRun('fails', 'failed')).error, 'out of luck');
  });
  await t.test('a running cron does not start again, and ends at its time limit [extensions §5.2]', async () => {
    await admin.post(`${path}/clock.sleeps/run`, {}, 202);
    assert.equal((await admin.send('POST', `${path}/clock.sleeps/run`)).status, 409);
    assert.match(String((await lastRun('sleeps', 'failed')).error), /longer than 10000 ms/);
  });
}
