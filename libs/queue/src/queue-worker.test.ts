import assert from 'node:assert/strict';
import { afterEach, suite, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { createQueueWorker, type QueueWorker } from './queue-worker.ts';

/** Longer than any test, so that only wakes cause claims. */
const neverMs = 3_600_000;

suite('a queue worker', () => {
  const log = createLogger('test', 'silent');
  const workers: QueueWorker<number>[] = [];
  const ends = new Map<number, () => void>();
  afterEach(async () => {
    for (const worker of workers.splice(0)) {
      const stopped = worker.stop();
      for (const end of ends.values()) end();
      await stopped;
    }
    ends.clear();
  });

  /** Starts a worker for the items in `queue`; the test ends their work. */
  function start(queue: number[], options: Partial<Parameters<typeof createQueueWorker<number>>[0]> = {}) {
    const limits: number[] = [];
    const worker = createQueueWorker<number>({
      name: 'claim the items of a test',
      log,
      idleMs: neverMs,
      maxRunning: 3,
      async claim(limit) {
        limits.push(limit);
        return { items: queue.splice(0, limit) };
      },
      work: (item) => new Promise((resolve) => ends.set(item, resolve)),
      ...options,
    });
    workers.push(worker);
    worker.start();
    return { worker, limits };
  }
  const end = (item: number) => ends.get(item)?.();
  const isRunning = (worker: QueueWorker<number>, ...items: number[]) =>
    eventually(() => `${worker.running}` === `${items}`);

  test('claims as many items as there is room for, and again when one ends', async () => {
    const { worker, limits } = start([1, 2, 3, 4, 5]);
    await isRunning(worker, 1, 2, 3);
    end(2);
    await isRunning(worker, 1, 3, 4);
    end(1);
    await isRunning(worker, 3, 4, 5);
    assert.deepEqual(limits, [3, 1, 1]);
  });

  test('claims again at once after a claim that was full', async () => {
    const { worker, limits } = start([1, 2, 3], { maxClaim: 2, maxRunning: 9 });
    await isRunning(worker, 1, 2, 3);
    assert.deepEqual(limits, [2, 2]);
  });

  test('claims nothing when an item ends if the last claim took all there was', async () => {
    const { worker, limits } = start([1, 2]);
    await isRunning(worker, 1, 2);
    end(1);
    await isRunning(worker, 2);
    worker.wakeSoon();
    await eventually(() => limits.length === 2);
    assert.deepEqual(limits, [3, 2], 'only the wake claimed');
  });

  test('claims when an item ends if the claim left some that are not due beside it', async () => {
    const waiting = [1, 2];
    const { worker } = start([], {
      claim: async () => ({ items: worker.running.length > 0 ? [] : waiting.splice(0, 1), leftSome: true }),
    });
    await isRunning(worker, 1);
    end(1);
    await isRunning(worker, 2);
  });

  test('claims when the next item is due', async () => {
    const answers = [{ items: [], nextMs: 1 }, { items: [7] }];
    const { worker } = start([], { claim: async () => answers.shift() ?? { items: [] } });
    await isRunning(worker, 7);
  });

  test('continues after a failed claim', async () => {
    let failures = 0;
    const { worker } = start([], {
      async claim() {
        failures += 1;
        if (failures === 1) throw new Error('the database restarts');
        return { items: failures === 2 ? [7] : [] };
      },
    });
    await isRunning(worker, 7);
  });

  test('begins nothing more when it stops, and waits for the work in progress', async () => {
    const queue = [1, 2, 3, 4];
    const { worker } = start(queue, { graceMs: neverMs });
    await isRunning(worker, 1, 2, 3);
    let hasStopped = false;
    const stopped = worker.stop().then(() => {
      hasStopped = true;
    });
    end(1);
    end(2);
    await isRunning(worker, 3);
    assert.equal(hasStopped, false);
    end(3);
    await stopped;
    assert.deepEqual(queue, [4]);
  });

  test('aborts the work that takes longer than its grace', async () => {
    const { worker } = start([1], {
      graceMs: 20,
      work: (_item, ending) => new Promise((resolve) => ending.addEventListener('abort', () => resolve())),
    });
    await isRunning(worker, 1);
    await worker.stop();
    assert.deepEqual(worker.running, []);
  });
});
