import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, mock, suite, test } from 'node:test';
import { every, skipped, whenWoken } from './background-task.ts';
import { recordingLog } from './testing/recording-log.ts';

/** Lets everything that waits for promises go on. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

suite('a background task', () => {
  const { timers } = mock;
  let runs: PromiseWithResolvers<number | typeof skipped | undefined>[];
  let recorded: ReturnType<typeof recordingLog>;

  beforeEach(() => {
    timers.enable({ apis: ['setTimeout', 'Date'] });
    runs = [];
    recorded = recordingLog();
  });
  afterEach(() => timers.reset());

  /** A run that ends when the test says so. */
  const held = () => {
    const run = Promise.withResolvers<number | typeof skipped | undefined>();
    runs.push(run);
    return run.promise;
  };
  const options = () => ({ name: 'water the plants', log: recorded.log, run: held });
  async function endRun(result?: number | typeof skipped): Promise<void> {
    runs.at(-1)?.resolve(result);
    await turn();
  }
  async function failRun(): Promise<void> {
    runs.at(-1)?.reject(new Error('no water'));
    await turn();
  }

  test('runs at the start and an interval after each end, never twice at once', async () => {
    const task = every({ ...options(), intervalMs: 100 });
    task.start();
    timers.tick(1000);
    assert.equal(runs.length, 1);
    await endRun();
    timers.tick(99);
    assert.equal(runs.length, 1);
    timers.tick(1);
    assert.equal(runs.length, 2);
    void endRun();
    await task.stop();
  });

  test('waits before its first run where it is told to, and a wake before the start makes it immediate', async () => {
    const late = every({ ...options(), intervalMs: 100, firstAfterMs: 50 });
    late.start();
    timers.tick(49);
    assert.equal(runs.length, 0);
    timers.tick(1);
    assert.equal(runs.length, 1);
    const woken = every({ ...options(), intervalMs: 100, firstAfterMs: 50 });
    woken.wake();
    assert.equal(runs.length, 1);
    woken.start();
    assert.equal(runs.length, 2);
  });

  test('runs when it is woken, and once more however often it was woken during a run', async () => {
    const task = every({ ...options(), intervalMs: 100 });
    task.start();
    await endRun();
    task.wake();
    assert.equal(runs.length, 2);
    task.wake();
    task.wake();
    await endRun();
    assert.equal(runs.length, 3);
    await endRun();
    assert.equal(runs.length, 3);
    timers.tick(100);
    assert.equal(runs.length, 4, 'the interval begins at the last end');
  });

  test('takes the time until the next run from the run, and the interval from a function after each', async () => {
    let intervalMs = 100;
    const task = every({ ...options(), intervalMs: () => intervalMs });
    task.start();
    await endRun(0);
    assert.equal(runs.length, 2);
    await endRun(7);
    timers.tick(7);
    assert.equal(runs.length, 3);
    intervalMs = 30;
    await endRun();
    timers.tick(30);
    assert.equal(runs.length, 4);
  });

  test('pauses after a failure, and no wake cuts that short', async () => {
    const task = every({ ...options(), intervalMs: 1000, retryMs: (failures) => 10 * failures });
    task.start();
    task.wake();
    await failRun();
    task.wake();
    timers.tick(9);
    assert.equal(runs.length, 1);
    timers.tick(1);
    assert.equal(runs.length, 2);
    await failRun();
    timers.tick(19);
    assert.equal(runs.length, 2);
    timers.tick(1);
    assert.equal(runs.length, 3);
    await endRun();
    assert.equal(runs.length, 3, 'wakes of the pause are covered by the run after it');
    task.wake();
    assert.equal(runs.length, 4);
  });

  test('goes on after a failure as after a success where it has no pause', async () => {
    const task = every({ ...options(), intervalMs: 100 });
    task.start();
    await failRun();
    timers.tick(99);
    assert.equal(runs.length, 1);
    task.wake();
    assert.equal(runs.length, 2);
  });

  test('says once that it fails, again after a minute, and once that it works again', async () => {
    const task = every({ ...options(), intervalMs: 1000, meanwhile: 'they wilt', fields: () => ({ plants: 3 }) });
    task.start();
    for (let second = 0; second < 60; second += 1) {
      await failRun();
      timers.tick(1000);
    }
    assert.deepEqual(recorded.lines, [['warn', 'cannot water the plants; they wilt', { plants: 3, failures: 1 }]]);
    await failRun();
    assert.deepEqual(recorded.lines[1], ['warn', 'cannot water the plants; they wilt', { plants: 3, failures: 61 }]);
    timers.tick(1000);
    await endRun(skipped);
    assert.equal(recorded.lines.length, 2, 'a run that did nothing says nothing');
    assert.equal(task.health.failures, 61);
    timers.tick(1000);
    await endRun();
    assert.deepEqual(recorded.lines[2], ['info', 'can water the plants again', { failures: 61 }]);
  });

  test('tells its health', async () => {
    timers.setTime(1_000_000);
    const task = every({ ...options(), intervalMs: 100, level: 'debug' });
    assert.deepEqual(task.health, { failures: 0, lastError: undefined, lastSuccessAtMs: undefined });
    task.start();
    await endRun();
    assert.deepEqual(task.health, { failures: 0, lastError: undefined, lastSuccessAtMs: 1_000_000 });
    timers.tick(100);
    await failRun();
    assert.deepEqual(task.health, { failures: 1, lastError: new Error('no water'), lastSuccessAtMs: 1_000_000 });
    assert.equal(recorded.lines[0]?.[0], 'debug');
  });

  test('is idle when the run under way and the one that follows it at once have ended', async () => {
    const task = whenWoken(options());
    await task.idle();
    task.wake();
    task.wake();
    let isIdle = false;
    const idle = task.idle().then(() => {
      isIdle = true;
    });
    await endRun();
    assert.deepEqual([runs.length, isIdle], [2, false]);
    await failRun();
    await idle;
  });

  test('waits at its stop for the run under way, tells it so, and runs no more', async () => {
    let signal: AbortSignal | undefined;
    const task = every({
      ...options(),
      intervalMs: 100,
      run(ending) {
        signal = ending;
        return held();
      },
    });
    task.start();
    assert.equal(signal?.aborted, false);
    task.wake();
    task.wakeSoon();
    let hasStopped = false;
    const stopped = task.stop().then(() => {
      hasStopped = true;
    });
    await turn();
    assert.deepEqual([signal?.aborted, hasStopped], [true, false]);
    await endRun();
    await stopped;
    task.wake();
    task.wakeSoon();
    task.start();
    timers.tick(1000);
    assert.equal(runs.length, 1);
  });

  test('runs in no request, although one has woken it', async () => {
    const request = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const task = whenWoken({
      ...options(),
      async run() {
        seen.push(request.getStore());
        return undefined;
      },
    });
    request.run('a request', () => task.wake());
    await turn();
    request.run('a request', () => task.wakeSoon());
    timers.tick(5);
    await turn();
    assert.deepEqual(seen, [undefined, undefined]);
  });

  suite('that waits to be woken', () => {
    test('runs only then, and by itself only after a failure', async () => {
      const task = whenWoken({ ...options(), retryMs: 500 });
      timers.tick(10_000);
      assert.equal(runs.length, 0);
      task.wake();
      await failRun();
      timers.tick(500);
      assert.equal(runs.length, 2);
      await endRun();
      timers.tick(10_000);
      assert.equal(runs.length, 2);
    });

    test('gathers those who wake it soon', async () => {
      const task = whenWoken({ ...options(), soonMs: 100 });
      task.wakeSoon();
      timers.tick(60);
      task.wakeSoon();
      timers.tick(40);
      assert.equal(runs.length, 1);
      await endRun();
      timers.tick(1000);
      assert.equal(runs.length, 1);
    });

    test('waits until nobody has woken it for a while where it settles', async () => {
      const task = whenWoken({ ...options(), soonMs: 100, settles: true });
      task.wakeSoon();
      timers.tick(60);
      task.wakeSoon();
      timers.tick(99);
      assert.equal(runs.length, 0);
      timers.tick(1);
      assert.equal(runs.length, 1);
    });
  });
});
