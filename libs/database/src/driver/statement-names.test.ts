import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { createClassMeters } from '../connections/class-meter.ts';
import { ReadLane } from '../connections/read-lane.ts';
import { isDatabaseError, sqlState } from '../errors.ts';
import { createEmptyDatabase, skipWithoutDatabase } from '../temporary-database.ts';

test('statements with one name that are sent together fail separately, and succeed as soon as they can', {
  skip: skipWithoutDatabase,
}, async () => {
  const temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
  const lane = new ReadLane({
    connection: { connectionString: temporary.url },
    size: 1,
    maxUnderWay: 100,
    meterOf: createClassMeters(undefined),
    work: 'gets',
    log: createLogger('test', 'silent'),
  });
  try {
    const read = () => lane.read<{ n: number }>({ name: 'list', text: 'select n from late', values: [] });
    for (let round = 0; round < 3; round += 1) {
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, read));
      for (const outcome of outcomes)
        assert.ok(outcome.status === 'rejected' && isDatabaseError(outcome.reason, sqlState.undefinedTable));
    }
    await lane.read({ text: 'create table late as select 7 as n', values: [] });
    assert.deepEqual(await Promise.all([read(), read(), read()]), [[{ n: 7 }], [{ n: 7 }], [{ n: 7 }]]);
    assert.deepEqual(await read(), [{ n: 7 }]);
  } finally {
    await lane.close();
    await temporary.drop();
  }
});
