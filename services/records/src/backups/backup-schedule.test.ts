import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { followBackupSchedule } from './backup-schedule.ts';

const log = createLogger('records', 'silent');
const hourMs = 3_600_000;

suite('the backup schedule [operation §9.6]', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
  });
  after(() => temporary?.remove());

  /** Starts a replica's schedule, whose clock and text the test sets. */
  function follow(schedule: { text: string; nowMs: number }, made: number[]) {
    const task = followBackupSchedule({
      query: temporary.database.query,
      log,
      schedule: () => schedule.text,
      clock: () => schedule.nowMs,
      make: async () => void made.push(schedule.nowMs),
    });
    task.start();
    return task;
  }

  test('each tick is made once over all replicas, also one that nobody saw, and none from before the schedule', async () => {
    const made: number[] = [];
    const schedule = { text: '0 * * * *', nowMs: Date.now() };
    const replicas = [follow(schedule, made), follow(schedule, made)];
    const look = async (): Promise<void> => {
      for (const replica of replicas) {
        replica.wake();
        await replica.idle();
      }
    };
    await eventually(async () => {
      const rows = await temporary.database.query({
        text: `select 1 from system.crons where name = 'backups'`,
        values: [],
      });
      return rows.length === 1;
    });
    await look();
    assert.equal(made.length, 0);
    schedule.nowMs += 5 * hourMs;
    await look();
    await look();
    assert.equal(made.length, 1);
    schedule.text = '';
    schedule.nowMs += hourMs;
    await look();
    assert.equal(made.length, 1);
    schedule.text = '30 * * * *';
    await look();
    assert.equal(made.length, 1);
    schedule.nowMs += hourMs;
    await look();
    assert.equal(made.length, 2);
    for (const replica of replicas) await replica.stop();
  });
});
