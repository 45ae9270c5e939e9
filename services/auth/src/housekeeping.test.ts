import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { createHousekeeping } from './housekeeping.ts';

test('states that guests began and never used are bounded, and valid ones stay', {
  skip: skipWithoutDatabase,
}, async () => {
  await using ending = new AsyncDisposableStack();
  const { database, remove } = await openTemporaryDatabase();
  ending.defer(remove);
  const now = 1_000_000;
  const add = (from: number, to: number, expiresAt: string) =>
    database.query({
      text: `insert into system.oauth_states (collection_id, state_hash, provider, redirect_uri, verifier, expires_at)
        select gen_random_uuid(), decode(md5(n::text), 'hex'), 'p', 'r', 'v', ${expiresAt}
        from generate_series($1::integer, $2::integer) as n`,
      values: [from, to],
    });
  await add(1, 103_000, `${now - 1000} + n / 1000`);
  await add(200_001, 200_010, `${now + 600}`);
  const housekeeping = createHousekeeping({
    database,
    mailDays: () => 30,
    log: createLogger('test', 'silent'),
    nowSec: () => now,
  });
  housekeeping.start();
  ending.defer(() => housekeeping.stop());
  housekeeping.wake();
  const count = async (condition: string): Promise<number> => {
    const [row] = await database.query<{ count: number }>({
      text: `select count(*)::integer as count from system.oauth_states where expires_at ${condition} $1`,
      values: [now],
    });
    return row?.count ?? 0;
  };
  await eventually(async () => (await count('<=')) <= 101_000);
  assert.ok((await count('<=')) >= 99_000);
  assert.equal(await count('>'), 10);
});
