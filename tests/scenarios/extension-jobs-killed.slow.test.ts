import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { endChild } from '../harness/processes/child.ts';
import { createGround, type Ground, type Stack, startStack } from '../harness/stacks/stack.ts';
import { ask, countJobs, createCollections, effects, jobIn } from './extension-jobs/jobs-ground.ts';
import { copyExtensions } from './extensions/extensions-directory.ts';

/**
 * Jobs on two replicas, one of which is killed again and again. TEST_JOBS sets how many jobs there are, such as 100000.
 */
const jobs = Number(process.env.TEST_JOBS ?? 600);
const kills = 3;
const enqueuedAtOnce = 100;
const waitMs = 600_000 + jobs * 60;

const directory = copyExtensions('jobs');
after(() => rmSync(directory, { recursive: true }));
const environment = { SERVICE_EXTENSIONS_DIR: directory, SERVICE_EXTENSIONS_JOB_WORKERS: '2' };

const startReplica = (ground: Ground): Promise<Stack> => startStack({ topology: 'one', ground, environment });
const startBeside = (ground: Ground): Promise<Stack> => startStack({ topology: 'one', beside: ground, environment });

test('jobs on two replicas', async (t) => {
  await using ground = await createGround();
  await using steady = await startReplica(ground);
  const admin = await steady.admin();
  await createCollections(admin);
  let other = await startBeside(ground);
  t.after(() => other.stop());

  await t.test('a hundred enqueuers of a key on both replicas make one job [extensions §8.3]', async () => {
    const body = { job: 'work.keyed', input: { name: 'shared' }, options: { in_s: 3600 } };
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 ? steady : other).guest.send('POST', '/api/x/jobs', { body }),
      ),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(answers.filter(({ json }) => at(json, 'data.isNew') === true).length, 1);
    assert.equal(await countJobs(admin, 'name=work.keyed&key=shared'), 1);
  });

  await t.test('a concurrency holds over both replicas [extensions §8.1]', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `alone ${index}`);
    await steady.guest.post('/api/x/jobs/many', { job: 'work.alone', names }, 200);
    await eventually(
      'all are done',
      async () => (await countJobs(admin, 'name=work.alone&state=done')) === names.length,
    );
    assert.deepEqual(await effects(steady.guest, 'name = "overlap"'), []);
  });

  await t.test(`each of ${jobs} jobs has its effect once, whenever a replica is killed [extensions §8.5]`, async () => {
    const done = () => countJobs(admin, 'name=work.slowly&state=done');
    const names = Array.from({ length: jobs }, (_, index) => `mass ${index}`);
    const enqueueing = (async () => {
      for (let from = 0; from < jobs; from += enqueuedAtOnce)
        await steady.guest.post(
          '/api/x/jobs/many',
          { job: 'work.slowly', names: names.slice(from, from + enqueuedAtOnce) },
          200,
        );
    })();
    for (let kill = 1; kill <= kills; kill += 1) {
      const part = (jobs * kill) / (kills + 1);
      await eventually(`${part} jobs are done`, async () => (await done()) >= part, { timeoutMs: waitMs });
      await endChild(other.process, 'SIGKILL');
      other = await startBeside(ground);
    }
    await enqueueing;
    await eventually('all jobs are done', async () => (await done()) === jobs, { timeoutMs: waitMs });
    const filter = encodeURIComponent('name ~ "mass "');
    const { json: list } = await admin.get(`/api/v1/job_effects?perPage=1&filter=${filter}`);
    assert.equal(at(list, 'totalItems'), jobs);
    const having = encodeURIComponent('count > 1');
    const { json: twice } = await admin.get(
      `/api/v1/job_effects/aggregate?group=name&count=1&filter=${filter}&having=${having}`,
    );
    assert.deepEqual(at(twice, 'data'), []);
    assert.equal(await countJobs(admin, 'name=work.slowly'), jobs);
  });

  await t.test("a killed replica's job runs elsewhere, as its next attempt [extensions §8.5]", async () => {
    // Only the other replica can have it: this one's workers are busy.
    const busy = ['a', 'b', 'c', 'd'].map((name) => `kept ${name}`);
    const ids = [];
    for (const name of busy) ids.push(await ask(steady.guest, 'work.held', { name }));
    for (const id of ids) await jobIn(admin, id, 'running');
    await endChild(other.process, 'SIGKILL');
    for (const name of busy) await steady.guest.send('POST', '/api/x/jobs/set', { body: { key: name, value: true } });
    const attempts = [];
    for (const id of ids) attempts.push((await jobIn(admin, id, 'done')).attempt);
    assert.deepEqual(attempts.toSorted(), [1, 1, 2, 2]);
    other = await startBeside(ground);
  });
});
