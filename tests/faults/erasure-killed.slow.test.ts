import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { endChild } from '../harness/processes/child.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { callers, createGround, environmentOf, firstAdmin, readiness, startProduct } from '../harness/stacks/stack.ts';
import { askErasure, tablesWith } from '../scenarios/erasures.ts';
import { ended, linesOf, sendImport } from '../scenarios/import-jobs.ts';

const children = 3000;
const marker = 'Fluegelhornova';

test('an erasure with 3,000 cascades continues after its process is killed, and counts everything once [privacy §2.6]', async () => {
  await using ground = await createGround();
  await using tidying = new AsyncDisposableStack();
  const environment = environmentOf(ground);
  let product = startProduct('one', environment);
  tidying.defer(async () => {
    await endChild(product);
  });
  const { url, setupToken } = await readiness(product);
  let admin = await callers(url, setupToken).admin();
  await admin.post('/api/v1/collections', { name: 'owners', fields: [{ name: 'name', type: 'text' }] });
  await admin.post('/api/v1/collections', {
    name: 'things',
    fields: [
      { name: 'text', type: 'text' },
      { name: 'owner', type: 'relation', collection: 'owners', options: { cascade: 'cascade' } },
    ],
    history_enabled: true,
  });
  const owner = await admin.create('owners', { name: marker });
  const rows = Array.from({ length: children }, () => ({ text: marker, owner: owner.id }));
  const sent = await sendImport(admin, 'things', { format: 'ndjson' }, linesOf(rows));
  assert.equal((await ended(admin, textAt(sent.json, 'data.id'))).state, 'done');
  const job = await askErasure(admin, 'owners', owner.id);

  /** Kills the stack once the job has left a step, and starts it again. */
  async function killAfter(step: string): Promise<void> {
    await eventually(`the job is over with the step "${step}"`, async () => {
      const [row] = await inDatabase(ground, 'select step, fence from system.data_jobs where id = $1', [job]);
      return row?.fence !== '0' && row?.step !== step;
    });
    process.kill(product.pid, 'SIGKILL');
    product = startProduct('one', environment);
    const again = await readiness(product);
    admin = await signIn(again.url);
  }

  await killAfter('none');
  await killAfter('');
  const done = await ended(admin, job, 120_000);
  assert.equal(done.state, 'done', JSON.stringify(done.error));
  const { records, history } = objectAt(done, 'certificate');
  assert.deepEqual({ records, history }, { records: children + 1, history: 2 * children });
  assert.equal(at((await admin.get('/api/v1/things')).json, 'totalItems'), 0);
  assert.deepEqual(await tablesWith(ground, marker), []);
});

async function signIn(url: string): Promise<Client> {
  const session = await createClient(url).post('/api/v1/admin/login', firstAdmin, 200);
  return createClient(url, textAt(session, 'token'));
}
