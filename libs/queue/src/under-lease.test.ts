import assert from 'node:assert/strict';
import { mock, suite, test } from 'node:test';
import { LostLease, underLease } from './under-lease.ts';

/** Work that lasts until its signal aborts, and returns the reason. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

suite('work under a lease', () => {
  test('ends when another replica holds the lease', async () => {
    let renewals = 0;
    const renew = async () => {
      renewals += 1;
      return renewals < 3;
    };
    assert.ok((await underLease({ renewMs: 2, renew }, untilAborted)) instanceof LostLease);
    assert.equal(renewals, 3);
  });

  test('continues when a renewal fails', async () => {
    const failed = Promise.withResolvers<void>();
    let renewals = 0;
    const renew = async () => {
      renewals += 1;
      if (renewals === 3) failed.resolve();
      throw new Error('no connection');
    };
    const isAborted = await underLease({ renewMs: 2, renew }, async (signal) => {
      await failed.promise;
      return signal.aborted;
    });
    assert.equal(isAborted, false);
  });

  test('ends with its process', async () => {
    const ending = new AbortController();
    const reason = new Error('the service stops');
    const work = underLease({ renewMs: 1000, renew: async () => true, ending: ending.signal }, untilAborted);
    ending.abort(reason);
    assert.equal(await work, reason);
  });

  test('renews nothing after its end, also if it fails', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      let renewals = 0;
      const renew = async () => {
        renewals += 1;
      };
      const failing = underLease({ renewMs: 10, renew }, async () => {
        mock.timers.tick(10);
        throw new Error('broken');
      });
      await assert.rejects(failing, /broken/);
      mock.timers.tick(1000);
      assert.equal(renewals, 1);
    } finally {
      mock.timers.reset();
    }
  });
});
