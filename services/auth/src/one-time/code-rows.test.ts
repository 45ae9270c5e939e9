import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { finishOneTimeToken } from '@recordbus/accounts';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createCodeHasher } from './code-hasher.ts';
import { guessCode, replaceCode } from './code-rows.ts';
import { findOneTimeToken } from './one-time-tokens.ts';

const nowSec = 1_800_000_000;
const expiresAtSec = nowSec + 600;

describe('one-time code rows', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary.remove());

  const issue = (accountId: string) =>
    replaceCode(database.query, {
      collectionId: 'c1',
      accountId,
      email: 'ann@example.com',
      codeHash: 'hash',
      nowSec,
      expiresAtSec,
    });
  const guess = (accountId: string, atSec = nowSec) =>
    guessCode(database.query, { collectionId: 'c1', accountId, nowSec: atSec });
  const find = (token: string, atSec = nowSec) =>
    findOneTimeToken(database.query, { purpose: 'otp', collectionId: 'c1', token, nowSec: atSec });

  test('code and link last exactly ten minutes [auth §5.2]', async () => {
    const token = await issue('u1');
    assert.equal(await guess('u1', expiresAtSec), undefined);
    assert.equal(await find(token, expiresAtSec), undefined);
    assert.deepEqual((await guess('u1', expiresAtSec - 1))?.data, { email: 'ann@example.com', code_hash: 'hash' });
    assert.equal((await find(token, expiresAtSec - 1))?.accountId, 'u1');
  });

  test("neither the code nor the link's token is stored [auth §5.2]", async () => {
    const token = await issue('u2');
    const rows = await database.query({
      text: "select * from system.one_time_tokens where account_id = 'u2'",
      values: [],
    });
    assert.equal(rows.length, 1);
    assert.ok(!JSON.stringify(rows).includes(token));
    const hash = createCodeHasher(Buffer.from('a secret for tests, over 32 characters'));
    assert.match(hash('u2', '123456'), /^[0-9a-f]{64}$/);
    assert.notEqual(hash('u2', '123456'), hash('u3', '123456'));
  });

  test('many parallel requests leave one valid code [auth §5.2]', async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => issue('u4')));
    const found = await Promise.all(tokens.map((token) => find(token)));
    assert.equal(found.filter(Boolean).length, 1);
  });

  test('when many guess at once, five are checked, and a new code allows five again [auth §5.4]', async () => {
    await issue('u5');
    const guesses = await Promise.all(Array.from({ length: 20 }, () => guess('u5')));
    assert.equal(guesses.filter(Boolean).length, 5);
    await issue('u5');
    assert.notEqual(await guess('u5'), undefined);
  });

  test('parallel correct guesses use up a code once [auth §8.5]', async () => {
    await issue('u6');
    const live = (await Promise.all(Array.from({ length: 5 }, () => guess('u6')))).map((code) => code?.tokenHash ?? '');
    const finished = await Promise.all(live.map((tokenHash) => finishOneTimeToken(database.query, tokenHash)));
    assert.deepEqual(finished.sort(), [false, false, false, false, true]);
  });
});
