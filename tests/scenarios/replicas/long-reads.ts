import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import pg from 'pg';
import type { Answer } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import type { Replicas } from './start-replicas.ts';

const rows = 60;

/** Takes the slots for a guest on this machine in the database, as other replicas do. */
const takeSlots = `select pg_advisory_xact_lock(hashtext('recordbus.read guest ' || address), slot)
  from generate_series($1::int, $2::int) slot, unnest(array['127.0.0.1', '0:0:0:0::/64']) address`;

/** A client has four long reads at once over all replicas. */
export async function longReads(t: TestContext, { ground, first, second }: Replicas): Promise<void> {
  const admin = await first.admin();
  const number = { name: 'v', type: 'number' };
  await admin.post('/api/v1/collections', { name: 'counts', type: 'base', fields: [number], list_rule: null });
  await admin.post('/api/v1/collections', {
    name: 'pairs',
    type: 'view',
    view_query: `select a.id, (select count(*) from counts b, counts c, counts d, counts e
      where b.v <> a.v and b.v <> c.v and c.v <> d.v and d.v <> e.v) as pairs from counts a`,
    list_rule: null,
  });
  for (let v = 0; v < rows; v += 1) await admin.create('counts', { v });
  await admin.patch('/api/v1/admin/settings', { 'records.read_timeout_ms': '1000' });
  const read = ({ guest }: Replicas['first']): Promise<Answer> => guest.get('/api/v1/pairs?skipTotal=1');
  const codes = async () =>
    (await Promise.all([first, second].map(read))).map(({ status, json }) => `${status} ${textAt(json, 'code')}`);
  const expensive = ['422 too_expensive', '422 too_expensive'];
  await eventually('both serve the view', async () => String(await codes()) === String(expensive));

  const elsewhere = new pg.Client({ connectionString: ground.databaseUrl });
  await elsewhere.connect();
  try {
    // Behind a pooler, only a transaction keeps a connection to the server.
    await elsewhere.query('begin');
    await t.test('a long read needs one free slot', async () => {
      await elsewhere.query(takeSlots, [1, 3]);
      assert.equal(textAt((await read(first)).json, 'code'), 'too_expensive');
      assert.equal(textAt((await read(second)).json, 'code'), 'too_expensive');
    });

    await t.test('without a free slot both replicas refuse a long read', async () => {
      await elsewhere.query(takeSlots, [4, 4]);
      assert.deepEqual(await codes(), ['429 rate_limited', '429 rate_limited']);
      assert.equal((await second.guest.get('/api/v1/counts?sort=v')).status, 200);
    });
  } finally {
    await elsewhere.end();
  }

  await t.test("an ended replica's slots are free again", async () => {
    await eventually('both replicas read again', async () => String(await codes()) === String(expensive));
  });
  await admin.patch('/api/v1/admin/settings', { 'records.read_timeout_ms': '' });
}
