import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Database, newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import {
  addJob,
  commandJob,
  endJob,
  findJob,
  LostJob,
  leaveJob,
  noteProgress,
  removeOldJobs,
  renewJob,
  takeJob,
} from './job-store.ts';

const progress = { position: 10, lastRow: 1, read: 1, done: 1, skipped: 0, refused: 0, waiting: 0, activeMs: 5 };

describe('jobs', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let query: Database['query'];
  before(async () => {
    temporary = await openTemporaryDatabase();
    ({ query } = temporary.database);
  });
  beforeEach(() => query({ text: 'truncate system.jobs, system.file_removals cascade', values: [] }));
  after(() => temporary?.remove());

  const admin = { type: 'admin', id: 'a', email: '' } as const;
  const keyed = (id: string) => ({ type: 'service', id, scopes: [] }) as const;
  const add = (body = newId(), actor: Parameters<typeof addJob>[1]['actor'] = admin) =>
    addJob(query, {
      id: newId(),
      kind: 'import',
      collection: { id: 'c', name: 'posts' },
      actor,
      request: { requestId: '', traceparent: '', clientAddress: '' },
      options: {},
      body: { id: body, bytes: 100 },
      rows: 5,
      position: 0,
    });
  const take = async () => (await takeJob(query)) ?? assert.fail('there is no job to take');
  const pass = (id: string, interval: string) =>
    query({
      text: `update system.jobs set lease_until = lease_until - $2::interval, finished_at = finished_at - $2::interval where id = $1`,
      values: [id, interval],
    });
  const names = async () =>
    (await query<{ record_id: string }>({ text: 'select record_id from system.file_removals', values: [] })).map(
      ({ record_id }) => record_id,
    );

  it('are taken in order, each by one replica [import §7.4]', async () => {
    const [first, second] = [await add(), await add()];
    assert.deepEqual([(await take()).id, (await take()).id, await takeJob(query)], [first.id, second.id, undefined]);
  });

  it('are taken as their actors take turns [import §7.4]', async () => {
    const [first, second] = [await add(), await add()];
    const other = await add(newId(), keyed('k'));
    assert.deepEqual([(await take()).id, (await take()).id, (await take()).id], [first.id, other.id, second.id]);
  });

  it('by one actor run one at a time, and service keys leave a place to admins [import §7.4]', async () => {
    const key = keyed('k');
    for (const actor of [key, key, keyed('other')]) await add(newId(), actor);
    assert.equal(await takeJob(query, [key]), undefined);
    const { id } = await add();
    assert.equal(await takeJob(query, [admin]).then((job) => job?.actor.type), 'service');
    assert.equal((await takeJob(query, [key]))?.id, id);
  });

  it('are taken from a replica that shows no sign of life, which then commits nothing more [import §7.4]', async () => {
    const { id } = await add();
    const frozen = await take();
    assert.equal(await renewJob(query, frozen), true);
    assert.equal(await takeJob(query), undefined);
    await pass(id, '1 minute');
    const next = await take();
    assert.ok(next.fence > frozen.fence);
    await assert.rejects(noteProgress(query, frozen, progress), LostJob);
    assert.equal(await renewJob(query, frozen), false);
    await endJob(query, frozen, undefined);
    assert.equal((await findJob(query, id))?.state, 'running');
    await noteProgress(query, next, progress);
    const { position, rows_done: done, active_ms: active } = (await findJob(query, id)) ?? assert.fail();
    assert.deepEqual([position, done, active], [10, 1, 5]);
  });

  it('that are paused or cancelled take no more progress [import §7.3]', async () => {
    for (const command of ['pause', 'cancel'] as const) {
      const { id } = await add();
      const held = await take();
      assert.equal((await commandJob(query, id, command))?.state, command === 'pause' ? 'paused' : 'cancelled');
      await assert.rejects(noteProgress(query, held, progress), LostJob);
      assert.equal(await commandJob(query, id, 'pause'), undefined);
    }
    assert.equal(await takeJob(query), undefined);
  });

  it('that fail wait before the next attempt, and progress resets the failure count [import §7.5]', async () => {
    const { id } = await add();
    await leaveJob(query, await take(), { pauseSec: 60, isFailure: true });
    assert.equal(await takeJob(query), undefined);
    await pass(id, '2 minutes');
    const again = await take();
    assert.equal(again.failures, 1);
    await noteProgress(query, again, progress);
    assert.equal((await findJob(query, id))?.failures, 0);
  });

  it('are removed with their bodies after a time, unless a later job has the body [import §7.6]', async () => {
    const old = await add();
    const earlier = await add();
    const later = await add(earlier.body_id);
    for (const job of [old, earlier]) await commandJob(query, job.id, 'cancel');
    await removeOldJobs(query, 7, '_jobs', 'body');
    assert.deepEqual(await names(), []);
    for (const job of [old, earlier]) await pass(job.id, '8 days');
    await removeOldJobs(query, 7, '_jobs', 'body');
    assert.deepEqual(await names(), [old.body_id]);
    assert.deepEqual([await findJob(query, old.id), await findJob(query, earlier.id)], [undefined, undefined]);
    await commandJob(query, later.id, 'cancel');
    await pass(later.id, '8 days');
    await removeOldJobs(query, 7, '_jobs', 'body');
    assert.deepEqual(new Set(await names()), new Set([old.body_id, earlier.body_id]));
  });
});
