import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { at, numberAt } from '../harness/json.ts';
import type { PocketBaseData } from '../harness/pocketbase/data.ts';
import { prepareMove } from '../harness/pocketbase/move.ts';

const times = { created: '2025-01-01 10:00:00.000Z', updated: '2025-01-02 10:00:00.000Z' };
const idOf = (kind: string, n: number) => `${kind}${n}`.padEnd(15, 'x');

/** One transaction adds a record to both collections, so every whole copy has as many in each. */
function addPair(data: PocketBaseData, n: number): void {
  data.database.exec('begin');
  data.insert('lefts', { id: idOf('l', n), n, ...times });
  data.insert('rights', { id: idOf('r', n), n, ...times });
  data.database.exec('commit');
  // PocketBase moves its log into the database, too.
  if (n % 7 === 0) data.database.exec('pragma wal_checkpoint(truncate)');
}

suite('a data directory that PocketBase writes to while it is copied', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  let pairs = 0;
  const { data, admin, move } = await prepareMove(tidying, (data) => {
    for (const name of ['lefts', 'rights'])
      data.define({ id: `pbc_${name}`, name, fields: [{ name: 'n', type: 'number' }] });
    for (; pairs < 500; pairs += 1) addPair(data, pairs);
  });
  const totalOf = async (name: string) => {
    const { status, json } = await admin.get(`/api/v1/records/${name}?perPage=1`);
    return status === 404 ? 0 : numberAt(json, 'totalItems');
  };

  for (const pauseMs of [1, 20, 120])
    test(`a write each ${pauseMs} ms gives a whole copy, or a sentence [move §1.1]`, async () => {
      const running = move();
      let isRunning = true;
      const writing = (async () => {
        for (; isRunning; pairs += 1) {
          addPair(data, pairs);
          await delay(pauseMs);
        }
      })();
      const { code, stderr } = await running;
      isRunning = false;
      await writing;
      if (code !== 0) assert.match(stderr, /data\.db was written to during each of 5 copies/);
      assert.equal(await totalOf('lefts'), await totalOf('rights'));
    });

  test('the run after the last write has all [move §3.2]', async () => {
    const { code, json, stderr } = await move();
    assert.equal(code, 0, stderr);
    assert.deepEqual([await totalOf('lefts'), await totalOf('rights')], [pairs, pairs]);
    assert.equal(at(json, 'collections.0.refused'), 0);
  });
});
