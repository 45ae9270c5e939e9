import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { numberAt, textAt } from '../harness/json.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { countsOf, ended, imported, linesOf, readJob, recordsOf, sendImport } from './import-jobs.ts';

onOneProcess('an import by a service key', async (t, target) => {
  const admin = await target.admin();
  for (const name of ['own', 'secret'])
    await admin.post('/api/v1/collections', {
      name,
      type: 'base',
      fields: [{ name: 'title', type: 'text' }],
      list_rule: '',
    });
  const key = await admin.post('/api/v1/admin/keys', { name: 'importer', scopes: ['records:own:write'] });
  const machine = createClient(target.url, textAt(key, 'key'));
  const secret = await imported(admin, 'secret', { format: 'ndjson' }, linesOf([{ title: 'secret' }, { title: 5 }]));

  await t.test('imports into collections that it may write [keys §5.7]', async () => {
    const job = await imported(machine, 'own', { format: 'ndjson' }, linesOf([{ title: 'own' }]));
    assert.deepEqual(countsOf(job), { total: 1, read: 1, done: 1 });
    assert.equal((await sendImport(machine, 'secret', { format: 'ndjson' }, '')).status, 403);
    assert.equal((await sendImport(machine, 'own', { format: 'ndjson', events: 'none' }, '{}')).status, 403);
  });

  await t.test('sees neither other jobs nor their bodies [import §1.5]', async () => {
    const id = textAt(secret, 'id');
    for (const path of ['', '/refused']) assert.equal((await machine.get(`/api/v1/jobs/${id}${path}`)).status, 404);
    const again = await machine.send('POST', `/api/v1/records/own/import?format=ndjson&upload=${id}`);
    assert.equal(again.status, 422, again.text);
    assert.deepEqual(await recordsOf(admin, 'own', 'title'), [{ title: 'own' }]);
  });

  await t.test('ends with the reason when the key is revoked while it runs [keys §5.7]', async () => {
    const brief = await admin.post('/api/v1/admin/keys', { name: 'brief', scopes: ['records:own:write'] });
    const rows = 300_000;
    const body = '{"title":"many"}\n'.repeat(rows);
    const started = await sendImport(createClient(target.url, textAt(brief, 'key')), 'own', { format: 'ndjson' }, body);
    assert.equal(started.status, 202, started.text);
    const id = textAt(started.json, 'data.id');
    await eventually('rows are done', async () => numberAt(await readJob(admin, id), 'rows.done') > 0);
    await admin.delete(`/api/v1/admin/keys/${textAt(brief, 'id')}`);
    const end = await ended(admin, id);
    assert.equal(end.state, 'failed');
    assert.equal(textAt(end, 'error.message'), "the job's service key is revoked or has expired");
    const done = numberAt(end, 'rows.done');
    assert.ok(done < rows);
    const { json } = await admin.get('/api/v1/records/own/aggregate?count=1&filter=title="many"');
    assert.equal(numberAt(json, 'data.0.count'), done, 'what was counted is what was written');
  });
});
