import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { endChild } from '../harness/processes/child.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { callers, createGround, environmentOf, firstAdmin, readiness, startProduct } from '../harness/stacks/stack.ts';
import { tablesWith } from '../scenarios/erasures.ts';
import { ended } from '../scenarios/import-jobs.ts';

const password = 'a long and winding password';
const accounts = 12;

test('accounts delete themselves while the process is killed: each is there, or it is erased [privacy §2.8]', async () => {
  await using ground = await createGround();
  await using tidying = new AsyncDisposableStack();
  const environment = environmentOf(ground);
  let product = startProduct('one', environment);
  tidying.defer(async () => {
    await endChild(product);
  });
  const { url, setupToken } = await readiness(product);
  const { admin: signIn, guest } = callers(url, setupToken);
  const admin = await signIn();
  await admin.post('/api/v1/collections', {
    name: 'vanishing',
    type: 'auth',
    fields: [{ name: 'full_name', type: 'text' }],
    delete_rule: 'id = @request.auth.id',
    history_enabled: true,
  });
  const people = [];
  for (let index = 0; index < accounts; index += 1) {
    const marker = `Verschwindibus${index}x`;
    const session = await guest.post('/api/v1/auth/vanishing/register', {
      email: `${marker}@example.com`.toLowerCase(),
      password,
      full_name: marker,
    });
    people.push({ marker, id: textAt(session, 'record.id'), client: createClient(url, textAt(session, 'token')) });
  }

  const deletes = people.map(async ({ id, client }) => {
    const answer = await client.send('DELETE', `/api/v1/vanishing/${id}`);
    return answer.status === 200;
  });
  await Promise.any(deletes);
  process.kill(product.pid, 'SIGKILL');
  const answered = (await Promise.allSettled(deletes)).map((one) => one.status === 'fulfilled' && one.value);
  product = startProduct('one', environment);
  const again = await readiness(product);
  const session = await createClient(again.url).post('/api/v1/admin/login', firstAdmin, 200);
  const after = createClient(again.url, textAt(session, 'token'));

  const { json } = await after.get('/api/v1/jobs?collection=vanishing&perPage=100');
  const jobs = new Map(listAt(json, 'data').map((job) => [at(job, 'options.id'), textAt(job, 'id')]));
  assert.ok(jobs.size >= 1);
  for (const [index, { id, marker }] of people.entries()) {
    const job = jobs.get(id);
    const { status } = await after.get(`/api/v1/vanishing/${id}`);
    assert.equal(status, job === undefined ? 200 : 404, marker);
    if (answered[index]) assert.ok(job, `${marker} got its answer`);
    if (job === undefined) continue;
    assert.equal((await ended(after, job)).state, 'done');
    await eventually(
      'no table has the marker',
      async () => {
        assert.deepEqual(await tablesWith(ground, marker), []);
        return true;
      },
      { timeoutMs: 300_000 },
    );
  }
  const [row] = await inDatabase(
    ground,
    `select count(*)::integer as jobs from system.data_jobs where cause = 'account'`,
    [],
  );
  assert.equal(row?.jobs, jobs.size);
});
