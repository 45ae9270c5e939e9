import assert from 'node:assert/strict';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('lists succeed while their collection changes [collections §9.2]', async (_, target) => {
  const admin = await target.admin();
  const field = (name: string) => ({ name, type: 'text' });
  const { id } = await admin.post('/api/v1/collections', {
    name: 'moving',
    type: 'base',
    fields: [field('kept')],
    list_rule: null,
    view_rule: null,
  });
  for (let left = 5; left > 0; left -= 1) await admin.create('moving', { kept: 'x' });
  let isOver = false;
  const failures: string[] = [];
  const read = async () => {
    while (!isOver) {
      const { status, text } = await target.guest.get('/api/v1/moving?skipTotal=1');
      if (status !== 200) failures.push(`${status} ${text}`);
    }
  };
  const readers = Array.from({ length: 24 }, read);
  for (let round = 0; round < 15; round += 1)
    await admin.patch(`/api/v1/collections/${id}`, { fields: [field('kept'), field(`added_${round}`)] });
  isOver = true;
  await Promise.all(readers);
  assert.deepEqual(failures, []);
});
