import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, numberAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { ended, linesOf, readJob, recordsOf, sendImport } from './import-jobs.ts';

const rows = 30_000;

onEachTopology('a job', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'queue', type: 'base', fields: [{ name: 'n', type: 'number' }] });
  const body = linesOf(Array.from({ length: rows }, (_, n) => ({ n })));
  const answer = await sendImport(admin, 'queue', { format: 'ndjson' }, body);
  const id = textAt(answer.json, 'data.id');
  const total = async () => numberAt((await admin.get('/api/v1/queue?perPage=1')).json, 'totalItems');
  const command = (name: string, client = admin) => client.send('POST', `/api/v1/jobs/${id}/${name}`);

  await t.test('is paused, and completed rows stay [import §7.3]', async () => {
    const running = await eventually('rows are done', async () => {
      const job = await readJob(admin, id);
      return numberAt(job, 'rows.done') > 0 ? job : undefined;
    });
    assert.equal(running.state, 'running');
    assert.equal(typeof running.eta_s, 'number');
    const paused = await command('pause');
    assert.deepEqual([paused.status, at(paused.json, 'data.state')], [200, 'paused'], paused.text);
    const done = numberAt(paused.json, 'data.rows.done');
    assert.ok(done < rows, 'the job was faster than the test');
    assert.equal(await total(), done);
    assert.deepEqual([(await command('pause')).status, at((await command('pause')).json, 'code')], [409, 'job_state']);
  });

  await t.test('belongs to its admin [import §7.3]', async () => {
    const email = `other-${randomUUID()}@example.com`;
    const password = 'correct horse battery';
    const other = await admin.post('/api/v1/admin/admins', { email, password });
    const login = await target.guest.send('POST', '/api/v1/admin/login', { body: { email, password } });
    assert.equal(login.status, 200, login.text);
    const stranger = createClient(target.url, textAt(login.json, 'data.token'));
    assert.equal(at((await stranger.get(`/api/v1/jobs/${id}`)).json, 'data.state'), 'paused');
    for (const name of ['pause', 'resume', 'cancel']) assert.equal((await command(name, stranger)).status, 403);
    await admin.delete(`/api/v1/admin/admins/${textAt(other, 'id')}`);
  });

  await t.test('continues where it was paused [import §7.3]', async () => {
    assert.equal(at((await command('resume')).json, 'data.state'), 'queued');
    const job = await ended(admin, id);
    assert.deepEqual(job.rows, { total: rows, read: rows, done: rows, skipped: 0, refused: 0, waiting: 0 });
    assert.equal(await total(), rows);
    for (const name of ['pause', 'resume', 'cancel']) assert.equal((await command(name)).status, 409);
  });

  await t.test('is cancelled, even while it waits [import §7.3]', async () => {
    const first = textAt((await sendImport(admin, 'queue', { format: 'ndjson' }, body)).json, 'data.id');
    const second = textAt((await sendImport(admin, 'queue', { format: 'ndjson' }, body)).json, 'data.id');
    const cancel = (job: string) => admin.send('POST', `/api/v1/jobs/${job}/cancel`);
    assert.equal(at((await cancel(second)).json, 'data.state'), 'cancelled');
    const cancelled = await cancel(first);
    assert.equal(at(cancelled.json, 'data.state'), 'cancelled', cancelled.text);
    const job = await readJob(admin, first);
    assert.equal(typeof job.finished, 'number');
    assert.equal(await total(), rows + numberAt(job, 'rows.done'));
    const audit = await admin.get('/api/v1/admin/audit?action=jobs.cancel&perPage=1');
    assert.equal(at(audit.json, 'data.0.target_id'), first);
  });

  await t.test('ends when its collection is dropped [import §5.5]', async () => {
    await admin.post('/api/v1/collections', { name: 'brief', type: 'base', fields: [{ name: 'n', type: 'number' }] });
    const job = textAt((await sendImport(admin, 'brief', { format: 'ndjson' }, body)).json, 'data.id');
    await eventually('rows are done', async () => numberAt(await readJob(admin, job), 'rows.done') > 0);
    await admin.delete('/api/v1/collections/brief');
    const failed = await ended(admin, job);
    assert.equal(failed.state, 'failed', JSON.stringify(failed));
    assert.match(textAt(failed, 'error.message'), /collection/);
    assert.deepEqual(await recordsOf(admin, 'queue', 'n').then(({ length }) => length), 1000);
  });
});
