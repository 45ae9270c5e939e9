import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkReadiness } from './health.ts';

describe('readiness', () => {
  it('is there when every dependency answers', async () =>
    assert.deepEqual(await checkReadiness({ database: async () => {}, bus: async () => {} }), {
      ready: true,
      checks: { database: 'ok', bus: 'ok' },
    }));

  it('names the dependency that fails', async () =>
    assert.deepEqual(
      await checkReadiness({
        database: async () => {
          throw new Error('refused');
        },
        bus: async () => {},
      }),
      { ready: false, checks: { database: 'refused', bus: 'ok' } },
    ));
});
