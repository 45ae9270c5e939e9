import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openBusReader } from '../../harness/clients/bus-reader.ts';
import { cataloguePath, validatorOf } from '../../harness/docs/event-catalogue.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { ask, countJobs, effects, jobIn, jobsPath, open, readJob } from './jobs-ground.ts';

const unknown = '01890000-0000-7000-8000-000000000001';

/** How jobs fail, what admins see and do, and what a failing job leaves alone. */
export async function ending(t: TestContext, target: Target): Promise<void> {
  const { guest } = target;
  const admin = await target.admin();

  const row = (name: string, as: Scenario['as'], request: string, expect: Scenario['expect']): Scenario => ({
    name,
    ...(as && { as }),
    request,
    expect,
    spec: 'extensions §8.6',
  });
  const list = (query: string) => `GET ${jobsPath}?perPage=1&${query}`;
  const onlyDone = is.containing({ data: is.listWith(is.containing({ state: 'done', name: 'work.note' })) });
  await runScenarios(t, target, [
    row('the list', 'admin', list('state=done&name=work.note'), { status: 200, json: onlyDone }),
    row('the list for a user', 'user', list(''), refused.forbidden),
    row('the list for a guest', 'guest', list(''), refused.unauthenticated),
    row('an unknown state', 'admin', list('state=lost'), refused.malformedWith({ state: is.text })),
    row('a name that is none', 'admin', list('name=%27.%27'), { status: 200, json: is.containing({ totalItems: 0 }) }),
    row('an unknown job', 'admin', `GET ${jobsPath}/${unknown}`, refused.notFound),
    row('an id that is none', 'admin', `GET ${jobsPath}/x`, refused.notFound),
    ...['run', 'cancel'].flatMap((command) => [
      row(`a guest's ${command}`, 'guest', `POST ${jobsPath}/${unknown}/${command}`, refused.unauthenticated),
      row(`a user's ${command}`, 'user', `POST ${jobsPath}/${unknown}/${command}`, refused.forbidden),
      row(`${command} of an unknown job`, 'admin', `POST ${jobsPath}/${unknown}/${command}`, refused.notFound),
    ]),
  ]);

  await t.test('a job that throws is tried again, then it is dead [extensions §8.5]', async () => {
    await using bus = await openBusReader(String(target.natsUrl), { isFromNow: true });
    const id = await ask(guest, 'work.throws', { name: 'unlucky' });
    const dead = await jobIn(admin, id, 'dead');
    assert.deepEqual([dead.attempt, dead.error], [3, 'out of luck at 3']);
    assert.deepEqual(await effects(guest, 'name = "unlucky"'), ['unlucky', 'unlucky', 'unlucky']);
    const event = await eventually('the event', () =>
      bus.events.find(({ subject, body }) => subject.endsWith('system.job.dead') && at(body, 'data.record.id') === id),
    );
    assert.equal(at(event.body, 'data.record.name'), 'work.throws');
    assert.equal(at(event.body, 'data.record.error'), 'out of luck at 3');
    assert.equal(at(event.body, 'data.record.input'), undefined);
    validatorOf(listAt((await admin.get(cataloguePath)).json, 'data'))(event.body);
  });

  await t.test('an admin runs a dead job again, with all its attempts [extensions §8.6]', async () => {
    const [dead] = listAt((await admin.get(`${jobsPath}?state=dead&name=work.throws`)).json, 'data');
    const id = String(dead?.id);
    await open(guest, 'cured unlucky');
    await admin.post(`${jobsPath}/${id}/run`, {}, 200);
    const done = await jobIn(admin, id, 'done');
    assert.deepEqual([done.attempt, done.error], [1, null]);
    assert.equal((await admin.send('POST', `${jobsPath}/${id}/run`)).status, 409);
    assert.equal((await admin.send('POST', `${jobsPath}/${id}/cancel`)).status, 409);
    const { json } = await admin.get('/api/v1/admin/audit?action=extension_jobs.run');
    assert.deepEqual(
      listAt(json, 'data').map(({ target_id }) => target_id),
      [id],
    );
  });

  const failures: Readonly<Record<string, RegExp>> = {
    loops: /took longer than 2000 ms/,
    waits: /took longer than 1000 ms/,
    leaks: /memory|died/,
    exits: /died/,
  };
  for (const [name, error] of Object.entries(failures))
    await t.test(`a job that ${name} ends alone [extensions §8.7]`, async () => {
      const held = await ask(guest, 'work.held', { name: `beside ${name}` });
      await jobIn(admin, held, 'running');
      const id = await ask(guest, `work.${name}`, { name });
      assert.equal((await guest.get('/api/x/jobs/hello')).status, 200);
      const dead = await jobIn(admin, id, 'dead');
      assert.match(String(dead.error), error);
      assert.equal((await readJob(admin, held)).state, 'running');
      await open(guest, `beside ${name}`);
      const { attempt } = await jobIn(admin, held, 'done');
      assert.equal(attempt, 1);
    });

  await t.test('busy jobs delay no hook and no route [extensions §8.7]', async () => {
    const busy = await Promise.all(
      ['one', 'two'].map((name) => ask(guest, 'work.held', { name: `busy ${name}` }, { key: `busy ${name}` })),
    );
    for (const id of busy) await jobIn(admin, id, 'running');
    const waiting = await ask(guest, 'work.held', { name: 'busy three' });
    assert.equal((await readJob(admin, waiting)).state, 'pending');
    await guest.create('job_orders', { name: 'beside busy jobs' });
    assert.equal((await guest.get('/api/x/jobs/hello')).status, 200);
    assert.equal((await readJob(admin, waiting)).state, 'pending');
    for (const name of ['one', 'two', 'three']) await open(guest, `busy ${name}`);
    for (const id of [...busy, waiting]) await jobIn(admin, id, 'done');
  });

  await t.test('a running job shows its progress, and an admin cancels it [extensions §8.6]', async () => {
    const id = await ask(guest, 'work.held', { name: 'endless' });
    const job = await eventually('the progress', async () => {
      const read = await readJob(admin, id);
      return read.progress === null ? undefined : read;
    });
    assert.deepEqual(job.progress, { percent: 40, message: 'at the gate' });
    assert.equal((await admin.send('POST', `${jobsPath}/${id}/run`)).status, 409);
    await admin.post(`${jobsPath}/${id}/cancel`, {}, 200);
    // Its worker ends: with its key, another one begins.
    const next = await ask(guest, 'work.held', { name: 'endless' });
    await jobIn(admin, next, 'running');
    await open(guest, 'endless');
    await jobIn(admin, next, 'done');
    assert.equal((await readJob(admin, id)).state, 'cancelled');
  });

  await t.test('an admin brings a delayed job forward [extensions §8.6]', async () => {
    const id = await ask(guest, 'work.note', { name: 'hurried' }, { in_s: 86_400 });
    await admin.post(`${jobsPath}/${id}/run`, {}, 200);
    await jobIn(admin, id, 'done');
  });

  await t.test('a cancelled job does not run again beside another one with its key [extensions §8.6]', async () => {
    const first = await ask(guest, 'work.keyed', { name: 'twice' }, { in_s: 3600 });
    await admin.post(`${jobsPath}/${first}/cancel`, {}, 200);
    await ask(guest, 'work.keyed', { name: 'twice' }, { in_s: 3600 });
    const answer = await admin.send('POST', `${jobsPath}/${first}/run`);
    assert.deepEqual([answer.status, at(answer.json, 'code')], [409, 'job_key']);
    assert.equal(await countJobs(admin, 'name=work.keyed&key=twice'), 2);
  });

  await t.test('metrics count attempts and waiting jobs [extensions §8.8]', async () => {
    const families = listAt((await admin.get('/_/metrics')).json, 'data');
    const samplesOf = (name: string) =>
      listAt(
        families.find((family) => family.name === name),
        'samples',
      );
    const noted = samplesOf('recordbus_extension_job_attempts_total').some(
      ({ labels, value }) => at(labels, 'job') === 'work.note' && at(labels, 'result') === 'done' && Number(value) > 0,
    );
    assert.ok(noted);
    assert.ok(samplesOf('recordbus_extension_job_duration_seconds').length > 0);
    assert.ok(Number(samplesOf('recordbus_extension_jobs_pending')[0]?.value) > 0);
    assert.ok(Number(samplesOf('recordbus_extension_jobs_dead')[0]?.value) > 0);
  });
}
