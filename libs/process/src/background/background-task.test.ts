import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, mock, suite, test } from 'node:test';
import { every, skipped, whenWoken } from './background-task.ts';
import { recordingLog } from './testing/recording-log.ts';

/** Lets everything that waits for promises continue. */
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

  /** A run that ends when the test ends it. */
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

  test('waits before its first run if so configured, unless it is woken before the start', async () => {
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

  test('runs when it is woken, and once more if it was woken during a run', async () => {
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

  test("takes the next run's time from the run, or the interval from a function", async () => {
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

  test('pauses after a failure, even if it is woken', async () => {
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

  test('continues after a failure as after a success if it has no pause', async () => {
    const task = every({ ...options(), intervalMs: 100 });
    task.start();
    await failRun();
    timers.tick(99);
    assert.equal(runs.length, 1);
    task.wake();
    assert.equal(runs.length, 2);
  });

  test('logs a failure once, again after a minute, and the recovery once', async () => {
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
    assert.equal(recorded.lines.length, 2, 'a skipped run logs nothing');
    assert.equal(task.health.failures, 61);
    timers.tick(1000);
    await endRun();
    assert.deepEqual(recorded.lines[2], ['info', 'can water the plants again', { failures: 61 }]);
  });

  test('reports its health', async () => {
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

  test('is idle when the current run, and one that follows immediately, have ended', async () => {
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

  test('signals and awaits the current run when it stops, and does not run again', async () => {
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

  test('runs outside the request that woke it', async () => {
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

  suite('that waits for a wake', () => {
    test('runs only then, and otherwise only after a failure', async () => {
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

    test('covers several wakes within a short time with one run', async () => {
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

    test('waits until there is no wake for a while if it is debounced', async () => {
      const task = whenWoken({ ...options(), soonMs: 100, isDebounced: true });
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
