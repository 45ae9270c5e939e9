import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { connectBus } from '@recordbus/bus';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { isHooked, nothingHooked } from './account-hooks.ts';
import { followHookedCollections, storeHookedCollections } from './hooked-collections.ts';

suite('the collections with account hooks', { skip: skipWithoutDatabase }, () => {
  let own: OpenTemporaryDatabase;
  before(async () => {
    own = await openTemporaryDatabase();
  });
  after(() => own.remove());

  test('are stored by one service and followed by others', async () => {
    const { database } = own;
    const log = createLogger('accounts test', 'silent');
    // Nothing listens on the discard port, so the bus is down.
    const bus = connectBus({ urls: 'nats://127.0.0.1:9', name: 'accounts test', log });
    const copy = followHookedCollections({ database, bus, log, pollIntervalMs: 50 });
    await copy.start();
    try {
      const hooked = (kind: 'signIn' | 'create', name: string) => isHooked({ hooked: copy.current }, kind, { name });
      assert.deepEqual([hooked('signIn', 'people'), hooked('create', 'people')], [true, false]);

      const some = { ...nothingHooked, create: ['people'] };
      assert.equal(await storeHookedCollections(database.query, some), true);
      assert.equal(await storeHookedCollections(database.query, some), false, 'nothing has changed');
      await eventually(() => hooked('create', 'people'));
      assert.deepEqual([hooked('signIn', 'people'), hooked('create', 'others')], [false, false]);

      assert.equal(await storeHookedCollections(database.query, { ...nothingHooked, create: ['*'] }), true);
      await eventually(() => hooked('create', 'others'));
    } finally {
      await copy.stop();
      await bus.close();
    }
  });
});
