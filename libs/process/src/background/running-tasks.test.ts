import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createMetrics, readMetrics } from '../metrics/index.ts';
import { measureTasks } from '../metrics/measure-tasks.ts';
import { whenWoken } from './background-task.ts';
import { checkTasks } from './check-tasks.ts';
import { healthOfTasks } from './running-tasks.ts';
import { recordingLog } from './testing/recording-log.ts';

/** A task whose runs fail while `isDry` says so. */
function waterPlants(name = 'water the plants') {
  const state = { isDry: false };
  const task = whenWoken({
    name,
    log: recordingLog().log,
    async run() {
      if (state.isDry) throw new Error('no water');
    },
  });
  const run = async () => {
    task.wake();
    await task.idle();
  };
  return { task, state, run };
}

suite('the running tasks of a process', () => {
  test('are listed until they stop', async () => {
    const { task } = waterPlants();
    assert.deepEqual([...healthOfTasks().keys()], ['water the plants']);
    await task.stop();
    assert.equal(healthOfTasks().size, 0);
  });

  test("with the same name have the worst one's health", async () => {
    const [good, bad] = [waterPlants(), waterPlants()];
    bad.state.isDry = true;
    for (const one of [good, bad]) await one.run();
    assert.equal(healthOfTasks().get('water the plants')?.failures, 1);
    for (const { task } of [good, bad]) await task.stop();
  });

  test('are in the readiness while they fail', async () => {
    const { task, state, run } = waterPlants();
    await run();
    assert.equal(await checkTasks(), undefined);
    state.isDry = true;
    await run();
    await run();
    assert.equal(await checkTasks(), 'cannot water the plants (failures: 2): no water');
    state.isDry = false;
    await run();
    assert.equal(await checkTasks(), undefined);
    await task.stop();
  });

  test('are in the metrics: failures in a row, and the last success', async () => {
    const metrics = createMetrics('test');
    measureTasks(metrics);
    const { task, state, run } = waterPlants();
    const values = async () => {
      const families = await readMetrics(metrics);
      return Object.fromEntries(families.map(({ name, samples }) => [name, samples.map(({ value }) => value)]));
    };
    state.isDry = true;
    await run();
    assert.deepEqual(await values(), { recordbus_task_failures: [1], recordbus_task_last_success_time_seconds: [] });
    state.isDry = false;
    await run();
    const { recordbus_task_failures: failures, recordbus_task_last_success_time_seconds: times } = await values();
    assert.deepEqual(failures, [0]);
    assert.ok(Math.abs((times?.[0] ?? 0) - Date.now() / 1000) < 10);
    await task.stop();
    assert.deepEqual(await values(), { recordbus_task_failures: [], recordbus_task_last_success_time_seconds: [] });
  });
});
