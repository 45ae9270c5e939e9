import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { type ClaimedJob, claimJobs } from './claim-jobs.ts';
import { buryJob, finishJob, renewJob, returnJob } from './end-job.ts';
import { enqueueJob } from './enqueue-job.ts';

describe("the queue of extensions' jobs", { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary.remove());
  beforeEach(() => run('delete from system.extension_jobs'));

  const run = <R>(text: string, ...values: unknown[]) => database.query<R>({ text, values });
  const enqueue = (name: string, more: Partial<Parameters<typeof enqueueJob>[1]> = {}, query = database.query) =>
    enqueueJob(query, {
      extension: 'e',
      name,
      input: '{}',
      key: undefined,
      priority: 0,
      inSec: undefined,
      atSec: undefined,
      requestId: null,
      traceparent: null,
      ...more,
    });
  const claimNow = (limit = 10, concurrency: number | null = null, names = ['a', 'b']) =>
    claimJobs(database, { extension: 'e', jobs: names.map((name) => ({ name, concurrency })), limit });
  const claim = async (...request: Parameters<typeof claimNow>) => (await claimNow(...request)).items;
  const states = async () =>
    (await run<{ state: string }>('select state from system.extension_jobs order by id')).map(({ state }) => state);
  const expire = () =>
    run("update system.extension_jobs set lease_until = now() - interval '1 second' where lease_until is not null");

  it('gives each job to one claim, with any number in parallel', async () => {
    for (let index = 0; index < 60; index += 1) await enqueue(index % 2 ? 'a' : 'b');
    const claims: ClaimedJob[] = [];
    for (let more = [...claims]; claims.length === 0 || more.length > 0; claims.push(...more))
      more = (await Promise.all(Array.from({ length: 8 }, () => claim(3)))).flat();
    assert.equal(claims.length, 60);
    assert.equal(new Set(claims.map(({ id }) => id)).size, 60);
  });

  it('keeps to a concurrency, however many claim at once', async () => {
    for (let index = 0; index < 20; index += 1) await enqueue('a');
    const claims = (await Promise.all(Array.from({ length: 8 }, () => claim(10, 3)))).flat();
    assert.equal(claims.length, 3);
    const [first] = claims;
    if (first) await finishJob(database.query, first);
    assert.equal((await claim(10, 3)).length, 1);
  });

  it('lets names take turns, and higher priorities go first', async () => {
    for (let index = 0; index < 10; index += 1) await enqueue('a');
    await enqueue('b');
    await enqueue('a', { priority: 7 });
    const claimed = await claim(3);
    assert.deepEqual(claimed.map(({ name }) => name).toSorted(), ['a', 'a', 'b']);
  });

  it('finds a due job behind a hundred thousand that are not due, with a higher priority', async () => {
    await run(
      `insert into system.extension_jobs (id, extension, name, input, priority, due_at)
        select gen_random_uuid(), 'e', 'a', '{}', 100, now() + interval '1 day' from generate_series(1, 100000)`,
    );
    const { id } = await enqueue('a');
    assert.deepEqual(
      (await claim()).map((job) => job.id),
      [id],
    );
  });

  it('takes over a job whose lease has expired, and refuses its late end', async () => {
    const { id } = await enqueue('a');
    const [late] = await claim();
    assert.ok(late);
    assert.deepEqual(await claim(), []);
    await expire();
    const [next] = await claim();
    assert.deepEqual([next?.id, next?.losses, next?.failures], [id, 1, 0]);
    assert.equal(await renewJob(database.query, late, undefined), false);
    await finishJob(database.query, late);
    await returnJob(database.query, late, { waitSec: 0, error: 'late' });
    await database.transaction((query) => buryJob(query, late, { error: 'late', isFailure: true }));
    assert.deepEqual(await states(), ['running']);
    assert.deepEqual(await run("select from system.outbox where event = 'system.job.dead'"), []);
    assert.ok(next && (await renewJob(database.query, next, { percent: 5, message: undefined })));
  });

  it('does not begin a waiting job before an enqueuer of its key has committed', async () => {
    const { id } = await enqueue('a', { key: 'k' });
    await database.transaction(async (query) => {
      assert.deepEqual(await enqueue('a', { key: 'k' }, query), { id, isNew: false });
      assert.deepEqual(await claim(), []);
    });
    assert.equal((await claim()).length, 1);
  });

  it('makes one job of a hundred enqueuers of a key', async () => {
    const made = await Promise.all(Array.from({ length: 100 }, () => enqueue('a', { key: 'k' })));
    assert.equal(made.filter(({ isNew }) => isNew).length, 1);
    assert.deepEqual(await states(), ['pending']);
  });

  it('keeps a job waiting while another one with its key runs', async () => {
    await enqueue('a', { key: 'k' });
    const [running] = await claim();
    await enqueue('a', { key: 'k' });
    await enqueue('b', { key: 'k' });
    assert.deepEqual(
      (await claim()).map(({ name }) => name),
      ['b'],
    );
    assert.ok(running);
    await returnJob(database.query, running, { waitSec: 0, error: 'failed' });
    assert.deepEqual(await states(), ['cancelled', 'pending', 'running'], 'the one that waits replaces the failed one');
    assert.deepEqual(
      (await claim()).map(({ name }) => name),
      ['a'],
    );
  });

  it('says when the next job is due', async () => {
    assert.deepEqual(await claimNow(), { items: [], nextMs: undefined });
    await enqueue('a', { inSec: 3600 });
    const { items, nextMs = 0 } = await claimNow();
    assert.deepEqual(items, []);
    assert.ok(nextMs > 0 && nextMs <= 3_600_000, `${nextMs}`);
    await run("update system.extension_jobs set due_at = now() - interval '1 second'");
    assert.equal((await claimNow()).items.length, 1);
  });

  it('waits before a retry', async () => {
    await enqueue('a');
    const [first] = await claim();
    assert.ok(first);
    await returnJob(database.query, first, { waitSec: 3600, error: 'failed' });
    assert.deepEqual(await claim(), []);
    await run("update system.extension_jobs set due_at = now() - interval '1 second'");
    const [second] = await claim();
    assert.deepEqual([second?.id, second?.failures], [first.id, 1]);
  });
});
