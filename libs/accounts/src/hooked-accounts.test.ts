import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { connectBus } from '@recordbus/bus';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/shared/logging';
import { eventually } from '@recordbus/shared/testing';
import { isHooked, nothingHooked } from './account-hooks.ts';
import { followHookedAccounts, noteHookedAccounts } from './hooked-accounts.ts';

suite('which accounts have hooks', { skip: skipWithoutDatabase }, () => {
  let own: OpenTemporaryDatabase;
  before(async () => {
    own = await openTemporaryDatabase();
  });
  after(() => own.remove());

  test('is noted by those who run them and followed by those who ask', async () => {
    const { database } = own;
    const log = createLogger('accounts test', 'silent');
    // The discard port: nothing listens there, so this is what a bus that is down looks like.
    const bus = connectBus({ urls: 'nats://127.0.0.1:9', name: 'accounts test', log });
    const copy = followHookedAccounts({ database, bus, log, pollIntervalMs: 50 });
    await copy.start();
    try {
      const hooked = (kind: 'signIn' | 'create', name: string) => isHooked({ hooked: copy.current }, kind, { name });
      assert.deepEqual([hooked('signIn', 'people'), hooked('create', 'people')], [true, false]);

      const some = { ...nothingHooked, create: ['people'] };
      assert.equal(await noteHookedAccounts(database.query, some), true);
      assert.equal(await noteHookedAccounts(database.query, some), false, 'it is no news');
      await eventually(() => hooked('create', 'people'));
      assert.deepEqual([hooked('signIn', 'people'), hooked('create', 'others')], [false, false]);

      assert.equal(await noteHookedAccounts(database.query, { ...nothingHooked, create: ['*'] }), true);
      await eventually(() => hooked('create', 'others'));
    } finally {
      await copy.stop();
      await bus.close();
    }
  });
});
