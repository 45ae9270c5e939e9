import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { createGround, firstAdmin, startStack } from '../harness/stacks/stack.ts';
import { erased, tablesWith } from '../scenarios/erasures.ts';
import { variablesOf } from './backup/deployment.ts';

const marker = 'Xylophonowitsch';

test('a restore of an older backup repeats the erasures that the stack knew [privacy §2.7]', async () => {
  await using ground = await createGround();
  const environment = variablesOf(ground);
  const archive = join(ground.dataDirectory, 'older.tar.gz');
  const target = { databaseUrl: ground.databaseUrl };
  let kept: string;
  {
    await using stack = await startStack({ topology: 'one', ground, environment });
    const admin = await stack.admin();
    await admin.post('/api/v1/collections', {
      name: 'files_of_people',
      fields: [{ name: 'text', type: 'text' }],
      history_enabled: true,
    });
    const { id } = await admin.create('files_of_people', { text: marker });
    kept = (await admin.create('files_of_people', { text: 'another person' })).id;
    const made = await runCli(['backup', 'create', archive, '--json'], { environment });
    assert.equal(made.code, 0, made.stderr);
    await erased(admin, 'files_of_people', id);
    assert.deepEqual(await tablesWith(target, marker), []);
  }
  const restored = await runCli(['backup', 'restore', archive, '--force', '--json'], { environment });
  assert.equal(restored.code, 0, restored.stderr);
  assert.notDeepEqual(await tablesWith(target, marker), [], 'the archive had it');

  await using again = await startStack({ topology: 'one', ground, environment });
  const session = await again.guest.post('/api/v1/admin/login', firstAdmin, 200);
  const admin = createClient(again.url, textAt(session, 'token'));
  await eventually('the erasure was repeated', async () => {
    const [job] = listAt((await admin.get('/api/v1/jobs')).json, 'data');
    return job?.kind === 'erase' && job.state === 'done';
  });
  assert.deepEqual(await tablesWith(target, marker), []);
  assert.equal((await admin.get(`/api/v1/files_of_people/${kept}`)).status, 200);
});
