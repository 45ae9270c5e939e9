import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, suite, test } from 'node:test';
import { followedCopy } from './followed-copy.ts';
import { recordingLog } from './testing/recording-log.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

suite('a followed copy', () => {
  let stored: number;
  let reads: number;
  let isAway: boolean;
  let notify: () => void;
  let recorded: ReturnType<typeof recordingLog>;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    stored = 1;
    reads = 0;
    isAway = false;
    notify = () => assert.fail('no listener for notices');
    recorded = recordingLog();
  });
  afterEach(() => mock.timers.reset());

  const follow = (more: { meanwhile?: string } = {}) =>
    followedCopy({
      name: 'the numbers',
      log: recorded.log,
      pollMs: 5000,
      onNotice(listener) {
        notify = listener;
        return () => {
          notify = () => {};
        };
      },
      async read(before: { readonly number: number } | undefined) {
        reads += 1;
        const number = stored;
        await turn();
        if (isAway) throw new Error('away');
        return before?.number === number ? before : { number };
      },
      ...more,
    });
  const untilRead = async () => {
    for (let turns = 0; turns < 4; turns += 1) await turn();
  };

  test('is read at the start, and cannot be used before', async () => {
    const copy = follow();
    assert.throws(() => copy.current, /the numbers were read before they were loaded/);
    assert.equal(copy.isFresh(1000), false);
    await copy.start();
    assert.equal(copy.current.number, 1);
    assert.equal(copy.isFresh(60_000), true);
    assert.equal(copy.isFresh(0), false);
    await copy.stop();
  });

  test("throws its first read's error at the start", async () => {
    isAway = true;
    const copy = follow();
    await assert.rejects(copy.start(), /away/);
    await copy.stop();
  });

  test('follows a notice immediately, and polls without one', async () => {
    const copy = follow();
    await copy.start();
    stored = 2;
    notify();
    await untilRead();
    assert.deepEqual([copy.current.number, reads], [2, 2]);
    stored = 3;
    mock.timers.tick(4999);
    await untilRead();
    assert.equal(copy.current.number, 2);
    mock.timers.tick(1);
    await untilRead();
    assert.deepEqual([copy.current.number, reads], [3, 3]);
    await copy.stop();
  });

  test('follows a notice during its first read', async () => {
    const copy = follow();
    const started = copy.start();
    stored = 2;
    notify();
    await started;
    await untilRead();
    assert.equal(copy.current.number, 2);
    await copy.stop();
  });

  test('is behind from a notice to the end of a read that began after it', async () => {
    const copy = follow();
    await copy.start();
    assert.equal(copy.isBehind, false);
    const earlier = copy.refresh();
    notify();
    assert.equal(copy.isBehind, true);
    await earlier;
    assert.equal(copy.isBehind, true);
    await copy.refresh();
    assert.equal(copy.isBehind, false);
    await copy.stop();
  });

  test('reads once for many notices', async () => {
    const copy = follow();
    await copy.start();
    for (let count = 0; count < 10; count += 1) notify();
    await untilRead();
    await untilRead();
    assert.ok(reads <= 3, `${reads} reads`);
    await copy.stop();
  });

  test('calls every listener when the copy changes, even if one of them throws', async () => {
    const copy = follow();
    await copy.start();
    const changes: string[] = [];
    copy.onChange(() => {
      throw new Error('a defect');
    });
    const end = copy.onChange((after, before) => changes.push(`${before.number} to ${after.number}`));
    await copy.refresh();
    assert.deepEqual(changes, []);
    stored = 2;
    await copy.refresh();
    assert.deepEqual(changes, ['1 to 2']);
    assert.deepEqual(recorded.lines, [['error', 'a listener to the numbers failed', {}]]);
    end();
    stored = 3;
    await copy.refresh();
    assert.deepEqual(changes, ['1 to 2']);
    await copy.stop();
  });

  test('keeps the last copy while the data cannot be read, logs that once, and follows again', async () => {
    const copy = follow();
    await copy.start();
    isAway = true;
    stored = 2;
    notify();
    await untilRead();
    notify();
    await untilRead();
    await assert.rejects(copy.refresh(), /away/);
    assert.deepEqual([copy.current.number, copy.health.failures], [1, 2]);
    isAway = false;
    mock.timers.tick(5000);
    await untilRead();
    assert.equal(copy.current.number, 2);
    assert.deepEqual(
      recorded.lines.map(([, message]) => message),
      ['cannot read the numbers; the last copy stays in use', 'can read the numbers again'],
    );
    await copy.stop();
  });

  test('awaits the current read when it stops, and no longer follows', async () => {
    const copy = follow();
    await copy.start();
    const late = copy.refresh();
    stored = 2;
    await copy.stop();
    await late;
    assert.equal(reads, 2);
    notify();
    mock.timers.tick(10_000);
    await untilRead();
    assert.equal(reads, 2);
  });
});
