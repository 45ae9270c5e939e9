import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { AppError } from '@recordbus/errors';
import { fixedSettings } from '@recordbus/settings/testing';
import { createLockout, type LoginTarget } from './lockout.ts';

const ann: LoginTarget = { realm: 'c1', email: 'ann@example.com', clientAddress: '203.0.113.7' };

describe('the lockout', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let temporary: OpenTemporaryDatabase;
  let now = 1_800_000_000;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary.remove());
  beforeEach(async () => {
    await database.query({ text: 'delete from system.failed_logins', values: [] });
  });

  const lockoutOf = (settings: Record<string, string> = {}, trustedProxies: readonly string[] = []) =>
    createLockout({
      database,
      settings: fixedSettings({
        'auth.lockout.max_attempts': '3',
        'auth.lockout.duration_seconds': '600',
        ...settings,
      }),
      trustedProxies,
      nowSec: () => now,
    });

  /** Returns 0 for an attempt that passes, otherwise the Retry-After. */
  async function attempt(lockout: ReturnType<typeof lockoutOf>, target: Partial<LoginTarget> = {}): Promise<number> {
    try {
      await lockout.reserve({ ...ann, ...target });
      return 0;
    } catch (error) {
      assert.ok(error instanceof AppError && error.status === 429, String(error));
      assert.equal(error.message, 'Too many failed attempts. Try again later.');
      return Number(error.headers['Retry-After']);
    }
  }

  test('without a limit nothing is counted', async () => {
    const lockout = lockoutOf({ 'auth.lockout.max_attempts': '0' });
    for (let count = 0; count < 20; count += 1) assert.equal(await attempt(lockout), 0);
    assert.deepEqual(await database.query({ text: 'select * from system.failed_logins', values: [] }), []);
  });

  test('the attempt that reaches the limit passes, and further ones are refused until the lockout ends', async () => {
    const lockout = lockoutOf();
    assert.deepEqual([await attempt(lockout), await attempt(lockout)], [0, 0]);
    now += 100;
    assert.equal(await attempt(lockout), 0);
    now += 10;
    assert.equal(await attempt(lockout), 590);
    now += 589;
    assert.equal(await attempt(lockout), 1);
    now += 1;
    assert.equal(await attempt(lockout), 0);
  });

  test('failures older than the window do not count', async () => {
    const lockout = lockoutOf();
    await attempt(lockout);
    await attempt(lockout);
    now += 600;
    for (let count = 0; count < 3; count += 1) assert.equal(await attempt(lockout), 0);
    assert.ok((await attempt(lockout)) > 0);
  });

  test("an address's spellings count together, collections separately", async () => {
    const lockout = lockoutOf();
    for (const email of ['ann@example.com', ' ANN@example.com', 'Ann@Example.com\n'])
      assert.equal(await attempt(lockout, { email }), 0);
    assert.ok((await attempt(lockout, { email: 'aNN@example.com' })) > 0);
    assert.equal(await attempt(lockout, { realm: 'c2' }), 0);
    assert.equal(await attempt(lockout, { email: 'bob@example.com' }), 0);
  });

  test('parallel attempts do not exceed the limit', async () => {
    const lockouts = [lockoutOf(), lockoutOf()];
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => attempt(lockouts[index % 2] ?? lockoutOf())),
    );
    assert.equal(results.filter((retryAfter) => retryAfter === 0).length, 3);
  });

  test('a correct first factor does not count, and a completed sign-in resets the count', async () => {
    const lockout = lockoutOf();
    await attempt(lockout);
    await attempt(lockout);
    const third = await lockout.reserve(ann);
    assert.ok((await attempt(lockout)) > 0);
    await third.release();
    const again = await lockout.reserve(ann);
    assert.ok((await attempt(lockout)) > 0);
    await again.clear();
    for (let count = 0; count < 3; count += 1) assert.equal(await attempt(lockout), 0);
    await lockout.clear(ann);
    assert.equal(await attempt(lockout), 0);
  });

  test('clients are counted only with trusted proxies', async () => {
    const open = lockoutOf();
    for (const email of ['a', 'b', 'c', 'd', 'e']) assert.equal(await attempt(open, { email }), 0);
    for (const lockout of [lockoutOf({}, ['10.0.0.0/8']), lockoutOf({ 'security.trusted_proxies': '10.0.0.0/8' })]) {
      await database.query({ text: 'delete from system.failed_logins', values: [] });
      for (const email of ['f', 'g', 'h']) assert.equal(await attempt(lockout, { email }), 0);
      assert.ok((await attempt(lockout, { email: 'i' })) > 0);
      assert.equal(await attempt(lockout, { email: 'i', clientAddress: '203.0.113.8' }), 0);
    }
  });

  test('a refused attempt does not count for its client', async () => {
    const lockout = lockoutOf({}, ['10.0.0.0/8']);
    for (let count = 0; count < 3; count += 1) await attempt(lockout, { clientAddress: `203.0.113.${count}` });
    for (let count = 0; count < 5; count += 1)
      assert.ok((await attempt(lockout, { clientAddress: '203.0.113.99' })) > 0);
    assert.equal(await attempt(lockout, { email: 'bob@example.com', clientAddress: '203.0.113.99' }), 0);
  });
});
