import assert from 'node:assert/strict';
import { openLive } from '../../harness/clients/live-client.ts';
import { numberAt, textAt } from '../../harness/json.ts';
import { onEachTopology } from '../../harness/stacks/target.ts';
import { createNotes, join } from './notes.ts';

const path = '/api/v1/realtime/ticket';

onEachTopology('a ticket opens a connection in place of a token', async (t, target) => {
  await createNotes(target);
  const admin = await target.admin();
  const ann = await join(target, 'ann');

  await t.test("with its token's rights, once [realtime §1.5]", async () => {
    const answer = await ann.client.post(path, undefined, 200);
    const leftSec = numberAt(answer, 'expires') - Date.now() / 1000;
    assert.ok(leftSec > 20 && leftSec <= 31, `${leftSec} s are left`);
    const query = `ticket=${textAt(answer, 'ticket')}`;
    await using live = await openLive(target.url, [{ collection: 'tasks' }], { query });
    assert.equal(live.status, 200, live.text);
    await live.arrived('ready');
    const own = await admin.create('tasks', { title: 'of ann', owner: ann.id });
    assert.deepEqual((await live.arrived('create'))[0]?.data.record, own);
    await using again = await openLive(target.url, [{ collection: 'tasks' }], { query });
    assert.equal(again.status, 401, again.text);
  });

  await t.test('and is refused to guests [realtime §1.5]', async () => {
    assert.equal((await target.guest.send('POST', path)).status, 401);
  });
});
