import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, textAt } from '../../harness/json.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { ask, countJobs, effects, jobIn, jobsPath, open, readJob } from './jobs-ground.ts';

/** Jobs begin with the writes that cause them, once for each key, at their time and by their priority. */
export async function asking(t: TestContext, target: Target): Promise<void> {
  const { guest } = target;
  const admin = await target.admin();
  const send = (path: string, body: object) => guest.send('POST', `/api/x${path}`, { body });
  const hasEffect = (name: string) =>
    eventually(`the effect ${name}`, async () => (await effects(guest, `name = "${name}"`)).length > 0);

  await t.test('a job runs after the answer [extensions §8.2]', async () => {
    const id = await ask(guest, 'work.note', { name: 'first' });
    const done = await jobIn(admin, id, 'done');
    assert.deepEqual(await effects(guest, 'name = "first"'), ['first']);
    const { name, extension, attempt, key, error, input, request_id } = done;
    assert.deepEqual(
      { name, extension, attempt, key, error, input },
      { name: 'work.note', extension: 'work', attempt: 1, key: null, error: null, input: { name: 'first' } },
    );
    assert.equal(typeof request_id, 'string');
  });

  await t.test("a before hook's job exists with the write [extensions §8.2]", async () => {
    await guest.create('job_orders', { name: 'kept' });
    await hasEffect('order kept');
  });

  await t.test('neither a refused write nor a rolled back transaction leaves a job [extensions §8.2]', async () => {
    const before = await countJobs(admin, 'extension=work');
    assert.equal((await guest.send('POST', '/api/v1/job_orders', { body: { name: 'refused' } })).status, 409);
    assert.equal((await guest.send('POST', '/api/v1/job_orders', { body: { name: 'kept' } })).status, 422);
    assert.equal((await send('/jobs/together', { name: 'undone', fails: true })).status, 409);
    assert.equal(await countJobs(admin, 'extension=work'), before);
    assert.equal((await send('/jobs/together', { name: 'done' })).status, 200);
    await hasEffect('with done');
    await hasEffect('order done');
    assert.deepEqual(await effects(guest, 'name ~ "undone" || name ~ "refused"'), []);
  });

  await t.test('a cron asks for jobs, and a job for others in its transaction [extensions §8.2]', async () => {
    await admin.post('/api/v1/admin/crons/work.asks/run', {}, 202);
    await hasEffect('by the cron');
    await ask(guest, 'work.transfers', { name: 'one' });
    await hasEffect('one in a transaction');
    await hasEffect('one followed');
  });

  await t.test('a hundred enqueuers of one key make one job [extensions §8.3]', async () => {
    const options = { in_s: 3600 };
    const body = { job: 'work.keyed', input: { name: 'hundred' }, options };
    const answers: Answer[] = [];
    // Twenty at a time: on a busy machine a hundred wait in the extension's four places for longer than a call may take.
    while (answers.length < 100)
      answers.push(...(await Promise.all(Array.from({ length: 20 }, () => send('/jobs', body)))));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(new Set(answers.map(({ json }) => at(json, 'data.id'))).size, 1);
    assert.equal(answers.filter(({ json }) => at(json, 'data.isNew') === true).length, 1);
    assert.equal(await countJobs(admin, 'name=work.keyed&key=hundred'), 1);
  });

  await t.test('the earlier time and the higher priority hold for a key [extensions §8.3]', async () => {
    const id = await ask(guest, 'work.keyed', { name: 'hundred' }, { in_s: 7200, priority: 5 });
    const { due, priority, created } = await readJob(admin, id);
    assert.equal(priority, 5);
    assert.ok(Math.abs(Number(due) - Number(created) - 3600) <= 1, `${due} is not an hour after ${created}`);
    await ask(guest, 'work.keyed', { name: 'other input' }, { key: 'hundred' });
    await hasEffect('hundred by hundred');
    await jobIn(admin, id, 'done');
    assert.deepEqual(await effects(guest, 'name ~ "other input"'), []);
  });

  await t.test('while a job with a key runs, another one waits for it [extensions §8.3]', async () => {
    const first = await ask(guest, 'work.held', { name: 'gate a' });
    await jobIn(admin, first, 'running');
    const second = await ask(guest, 'work.held', { name: 'gate a' });
    assert.notEqual(second, first);
    // Later jobs of the same name are done meanwhile, so a worker was free.
    const other = await ask(guest, 'work.held', { name: 'gate b' });
    await jobIn(admin, other, 'running');
    assert.equal((await readJob(admin, second)).state, 'pending');
    await open(guest, 'gate b');
    await open(guest, 'gate a');
    await jobIn(admin, second, 'done');
    assert.deepEqual(await effects(guest, 'name ~ "gate a"'), [
      'gate a began',
      'gate a passed',
      'gate a began',
      'gate a passed',
    ]);
  });

  await t.test('a delayed job starts when it is due, not before [extensions §8.2]', async () => {
    const at = Math.floor(Date.now() / 1000) + 2;
    const ids = [
      await ask(guest, 'work.note', { name: 'in a second' }, { in_s: 1.5 }),
      await ask(guest, 'work.note', { name: 'at a time' }, { at }),
    ];
    for (const id of ids) {
      const { due, started, finished } = await jobIn(admin, id, 'done');
      assert.ok(Number(started) >= Number(due), `${started} is before ${due}`);
      assert.ok(Number(finished) >= Number(due));
    }
    const past = await ask(guest, 'work.note', { name: 'past' }, { at: 0 });
    await jobIn(admin, past, 'done');
  });

  await t.test('a higher priority goes first, then the earlier job [extensions §8.4]', async () => {
    const gate = await ask(guest, 'work.ordered', { name: 'gate order' });
    await jobIn(admin, gate, 'running');
    const priorities = [0, -5, 10, 0, 10];
    const ids = [];
    for (const [index, priority] of priorities.entries())
      ids.push(await ask(guest, 'work.ordered', { name: `turn ${index}` }, { priority }));
    await open(guest, 'gate order');
    for (const id of ids) await jobIn(admin, id, 'done');
    assert.deepEqual(await effects(guest, 'name ~ "turn "'), ['turn 2', 'turn 4', 'turn 0', 'turn 3', 'turn 1']);
  });

  await t.test('cancelling belongs to the transaction [extensions §8.3]', async () => {
    const id = await ask(guest, 'work.keyed', { name: 'unwanted' }, { in_s: 3600 });
    assert.equal((await send('/jobs/cancel', { key: 'unwanted', fails: true })).status, 409);
    assert.equal((await readJob(admin, id)).state, 'pending');
    assert.equal(at((await send('/jobs/cancel', { key: 'unwanted', job: 'work.held' })).json, 'data'), 0);
    assert.equal(at((await send('/jobs/cancel', { key: 'unwanted' })).json, 'data'), 1);
    assert.equal((await readJob(admin, id)).state, 'cancelled');
    assert.equal(at((await send('/jobs/cancel', { key: 'unwanted' })).json, 'data'), 0);
    const again = await ask(guest, 'work.keyed', { name: 'unwanted' }, { in_s: 3600 });
    assert.notEqual(again, id);
  });

  await t.test("an extension asks for another one's jobs, under that one's rules [extensions §8.2]", async () => {
    const { status, json } = await send('/neighbour/street', {});
    assert.equal(status, 200);
    await jobIn(admin, textAt(json, 'data.id'), 'done');
    assert.deepEqual(await effects(guest, 'name ~ "street"'), ['street by street']);
    assert.equal(at((await send('/neighbour/street/cancel', {})).json, 'data'), 0);
  });

  await t.test('any JSON is an input [extensions §8.2]', async () => {
    const odd = { text: 'a\u0000b\ud83d\ude00 "\\', list: [null, 1.5e300, []], ключ: '', nested: { $ref: 'x' } };
    await jobIn(admin, await ask(guest, 'work.plain', odd), 'done');
    assert.deepEqual(JSON.parse(textAt((await guest.get('/api/x/jobs/plain')).json, 'data')), odd);
  });

  const refusals: readonly (readonly [string, object, number, string])[] = [
    ['an unknown job', { job: 'work.none', input: {} }, 404, 'not_found'],
    ["an unknown extension's job", { job: 'none.note', input: {} }, 404, 'not_found'],
    ['a name without extension', { job: 'note', input: { name: 'x' } }, 404, 'not_found'],
    ['an input that its schema refuses', { job: 'work.note', input: { name: '' } }, 422, 'invalid_job_input'],
    ['no input', { job: 'work.note', input: null }, 422, 'invalid_job_input'],
    ['an input above 64 KiB', { job: 'work.note', input: { name: 'x'.repeat(65_536) } }, 422, 'validation_failed'],
    ['both times', { job: 'work.note', input: { name: 'x' }, options: { in_s: 1, at: 1 } }, 400, 'malformed_request'],
    ['a negative time', { job: 'work.note', input: { name: 'x' }, options: { in_s: -1 } }, 400, 'malformed_request'],
    ['an endless time', { job: 'work.note', input: { name: 'x' }, options: { in_s: 1e12 } }, 400, 'malformed_request'],
    [
      'a broken priority',
      { job: 'work.note', input: { name: 'x' }, options: { priority: 1.5 } },
      400,
      'malformed_request',
    ],
    [
      'a long key',
      { job: 'work.note', input: { name: 'x' }, options: { key: 'x'.repeat(256) } },
      400,
      'malformed_request',
    ],
    ['an empty key', { job: 'work.note', input: { name: 'x' }, options: { key: '' } }, 400, 'malformed_request'],
    ['a key with U+0000', { job: 'work.note', input: { name: 'x' }, options: { key: '\0' } }, 400, 'malformed_request'],
    ['an unknown option', { job: 'work.note', input: { name: 'x' }, options: { soon: 1 } }, 400, 'malformed_request'],
  ];
  for (const [what, body, status, code] of refusals)
    await t.test(`${status}: ${what} [extensions §8.2]`, async () => {
      const answer = await send('/jobs', body);
      assert.deepEqual([answer.status, at(answer.json, 'code')], [status, code], answer.text);
    });

  await t.test('too many waiting jobs are refused until fewer wait [extensions §8.2]', async () => {
    const waiting = await countJobs(admin, 'extension=work&state=pending');
    await admin.patch('/api/v1/admin/settings', { 'jobs.max_pending': String(waiting + 3) });
    const refusedOne = await eventually('a job is refused', async () => {
      const answer = await send('/jobs', {
        job: 'work.note',
        input: { name: 'fills' },
        options: { in_s: 3600, key: 'full' },
      });
      const more = await send('/jobs', { job: 'work.note', input: { name: 'fills' }, options: { in_s: 3600 } });
      return [answer, more].find(({ status }) => status !== 200);
    });
    assert.deepEqual([refusedOne.status, at(refusedOne.json, 'code')], [503, 'too_many_jobs']);
    await admin.patch('/api/v1/admin/settings', { 'jobs.max_pending': '' });
    await eventually('jobs are accepted again', async () => {
      const body = { job: 'work.keyed', input: { name: 'fits' }, options: { in_s: 3600 } };
      return (await send('/jobs', body)).status === 200;
    });
    assert.equal((await guest.get(jobsPath)).status, 401);
  });
}
