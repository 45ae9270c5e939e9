import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { heartbeat } from './heartbeat.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a heartbeat repeats until it is ended, skips a beat during a beat, and continues after a failure', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const beats: PromiseWithResolvers<void>[] = [];
  const failures: unknown[] = [];
  const beat = () => {
    const one = Promise.withResolvers<void>();
    beats.push(one);
    return one.promise;
  };
  const end = heartbeat(100, beat, (error) => failures.push(error));
  mock.timers.tick(99);
  assert.equal(beats.length, 0);
  mock.timers.tick(1);
  mock.timers.tick(300);
  assert.equal(beats.length, 1);
  beats[0]?.reject(new Error('away'));
  await turn();
  assert.deepEqual(failures, [new Error('away')]);
  mock.timers.tick(100);
  assert.equal(beats.length, 2);
  beats[1]?.resolve();
  await turn();
  end();
  mock.timers.tick(1000);
  assert.equal(beats.length, 2);
});
