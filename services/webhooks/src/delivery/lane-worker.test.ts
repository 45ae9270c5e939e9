import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId, type Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { createLanes, type Lanes } from './lane-worker.ts';

describe('the lanes of a process', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let lanes: Lanes;
  let statements: (string | undefined)[] = [];
  let reads = 0;

  before(async () => {
    temporary = await openTemporaryDatabase();
    const query: Query = (statement) => {
      statements.push(statement.name);
      return temporary.database.query(statement);
    };
    const places = {
      readLife: async () => 1,
      read: async () => {
        reads += 1;
        return { life: 1, sequence: 1 };
      },
      forget: () => {},
    };
    lanes = createLanes({ query, log: createLogger('test', 'silent'), places, onFreed: () => {} });
    await lanes.start();
  });
  after(async () => {
    await lanes.stop();
    await temporary.remove();
  });

  const addWebhook = (ordering: string) =>
    temporary.database.query({
      text: `insert into system.webhooks
          (id, name, url, events, secret, retry_max, retry_backoff, retry_delay_ms, timeout_ms, ordering)
        values ($1, 'w', 'http://a.example', '{*}', 's', 3, 'fixed', 1000, 1000, $2)`,
      values: [newId(), ordering],
    });
  const claim = () => lanes.claim({ limit: 50, perWebhook: 64, inFlight: new Map(), leaseSec: 60 });

  it('run no statement and ask the bus nothing while no webhook is ordered', async () => {
    await addWebhook('none');
    assert.deepEqual(statements, ['lanes.use']);
    statements = [];
    assert.deepEqual(await claim(), { claims: [], isEarly: false });
    assert.deepEqual([statements, reads, lanes.isUsed], [[], 0, false]);
  });

  it('claim when one is', async () => {
    await addWebhook('record');
    lanes.check();
    await eventually(() => lanes.isUsed);
    statements = [];
    lanes.note(5);
    assert.deepEqual(await claim(), { claims: [], isEarly: true });
    assert.ok(statements.includes('lanes.claim'));
  });
});
