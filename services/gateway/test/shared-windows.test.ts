import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Database, openDatabase } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { eventually } from '@recordbus/testing';
import { createSharedWindows } from '../src/app.ts';
import { quiet } from './topologies.ts';

describe('counters in the database', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let away: Database;
  let temporary: OpenTemporaryDatabase;
  const run = (text: string) => database.query({ text, values: [] });

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    away = await openDatabase({ url: temporary.url, name: 'away', log: quiet });
    await away.close();
  });
  after(() => temporary.remove());
  beforeEach(async () => {
    await run('delete from system.rate_windows');
  });

  const countersOf = (of: Pick<Database, 'query'>) => createSharedWindows({ database: of, log: quiet });

  test('replicas count each request once, together', async () => {
    const replicas = [countersOf(database), countersOf(database)];
    const windows = await Promise.all(
      Array.from({ length: 40 }, (_, index) => replicas[index % 2]?.take('ann', 60_000, 1)),
    );
    const used = windows.map((window) => window?.used ?? 0).sort((a, b) => a - b);
    assert.deepEqual(
      used,
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
    assert.equal(new Set(windows.map((window) => window?.endsAtMs)).size, 1);
    assert.ok(windows.every((window) => window && window.leftMs > 0 && window.leftMs <= 60_000));
    assert.equal((await replicas[0]?.take('bob', 60_000, 5))?.used, 5);
  });

  test('a window that has ended is followed by a new one', async () => {
    const counters = countersOf(database);
    const { endsAtMs } = await counters.take('ann', 1, 7);
    await eventually(async () => (await counters.take('ann', 1, 1)).used === 1);
    assert.notEqual((await counters.take('ann', 60_000, 1)).endsAtMs, endsAtMs);
  });

  test('a replica counts alone while the database is down, and with the others again afterwards', async () => {
    let current = database;
    const counters = countersOf({ query: (statement) => current.query(statement) });
    assert.equal((await counters.take('ann', 60_000, 3)).used, 3);
    current = away;
    for (const used of [4, 5, 6]) assert.equal((await counters.take('ann', 60_000, 1)).used, used);
    current = database;
    const others = countersOf(database);
    await eventually(async () => {
      const { used } = await others.take('ann', 60_000, 1);
      return (await counters.take('ann', 60_000, 1)).used === used + 1;
    });
  });

  test('a database that hangs delays no caller', async () => {
    const counters = countersOf(database);
    await database.transaction(async (query) => {
      await query({ text: 'lock table system.rate_windows', values: [] });
      for (const used of [1, 2, 3]) assert.equal((await counters.take('ann', 60_000, 1)).used, used);
    });
  });
});
