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

  it('reports what is dispensable without counting it', async () => {
    const checks = { database: async () => {}, bus: async () => Promise.reject(new Error('gone')) };
    assert.deepEqual(await checkReadiness(checks, new Set(['bus'])), {
      ready: true,
      checks: { database: 'ok', bus: 'gone' },
    });
  });
});
