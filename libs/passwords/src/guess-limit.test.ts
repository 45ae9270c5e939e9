import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createGuessLimit } from './guess-limit.ts';

describe('the guess limit', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let temporary: OpenTemporaryDatabase;
  let now = 1_800_000_000;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary.remove());

  const guess = (key: string) => ({ key, max: 10, windowSec: 900 });

  test('ten guesses pass, and further ones are refused on every replica until the window ends', async () => {
    const limit = createGuessLimit({ database, nowSec: () => now });
    const replica = createGuessLimit({ database, nowSec: () => now });
    for (let count = 0; count < 5; count += 1) {
      await limit.reserve(guess('a'));
      await replica.reserve(guess('a'));
    }
    now += 100;
    await assert.rejects(replica.reserve(guess('a')), { status: 429, headers: { 'Retry-After': '800' } });
    await limit.reserve(guess('b'));
    now += 799;
    assert.equal(await limit.tryReserve(guess('a')), false);
    now += 1;
    assert.equal(await limit.tryReserve(guess('a')), true);
  });

  test('when many guess at once, at most ten pass', async () => {
    const limit = createGuessLimit({ database, nowSec: () => now });
    const guesses = await Promise.all(Array.from({ length: 30 }, () => limit.tryReserve(guess('c'))));
    assert.equal(guesses.filter(Boolean).length, 10);
  });

  test('a correct guess resets the count', async () => {
    const limit = createGuessLimit({ database, nowSec: () => now });
    for (let count = 0; count < 10; count += 1) await limit.reserve(guess('d'));
    await limit.clear('d');
    await limit.reserve(guess('d'));
  });
});
