import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { checkReadiness, createReadinessLog, withoutReasons } from './health.ts';

describe('readiness', () => {
  it('is true when every dependency answers', async () =>
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

  it('reports dispensable checks without counting them', async () => {
    const checks = { database: async () => {}, bus: async () => Promise.reject(new Error('gone')) };
    assert.deepEqual(await checkReadiness(checks, new Set(['bus'])), {
      ready: true,
      checks: { database: 'ok', bus: 'gone' },
    });
  });

  it('has one word for each dependency, without reasons', async () => {
    const checks = {
      database: async () => Promise.reject(new Error('connect ECONNREFUSED db.internal:5432')),
      bus: async () => {},
      events: async () => 'the stream is full',
    };
    assert.deepEqual(withoutReasons(await checkReadiness(checks)), {
      ready: false,
      checks: { database: 'failing', bus: 'ok', events: 'degraded' },
    });
  });

  it('is logged with its reasons when it changes', () => {
    const lines: string[] = [];
    const note = createReadinessLog(pino({}, { write: (line: string) => lines.push(line) }));
    for (const database of ['ok', 'refused', 'refused again', 'ok']) note({ ready: false, checks: { database } });
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ check, reason, msg }) => [check, reason, msg]),
      [
        ['database', 'refused', 'health check is failing'],
        ['database', undefined, 'health check passes again'],
      ],
    );
  });
});
