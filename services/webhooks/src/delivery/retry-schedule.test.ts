import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextDelayMs, readRetryAfterMs } from './retry-schedule.ts';

const plan = { retryMax: 3, backoff: 'exponential', baseDelayMs: 1000 } as const;

describe('the retry schedule', () => {
  it('doubles from the base and ends after retry_max', () => {
    assert.deepEqual(
      [1, 2, 3, 4].map((recorded) => nextDelayMs(plan, recorded)),
      [1000, 2000, 4000, undefined],
    );
  });

  it('is constant with a fixed backoff', () => {
    const fixed = { ...plan, backoff: 'fixed' } as const;
    assert.deepEqual(
      [1, 3].map((recorded) => nextDelayMs(fixed, recorded)),
      [1000, 1000],
    );
  });

  it('has no retry with retry_max 0', () => assert.equal(nextDelayMs({ ...plan, retryMax: 0 }, 1), undefined));

  it('doubles up to a day, and adds at most a tenth as jitter to long waits', () => {
    const long = { ...plan, retryMax: 50 };
    const dayMs = 86_400_000;
    assert.equal(
      nextDelayMs(long, 50, 0, () => 0),
      dayMs,
    );
    assert.equal(
      nextDelayMs(long, 50, 0, () => 1),
      95_040_000,
    );
    assert.equal(
      nextDelayMs({ ...long, baseDelayMs: dayMs }, 3, 0, () => 0),
      dayMs,
    );
  });

  it('takes Retry-After as a lower bound', () => {
    assert.equal(nextDelayMs(plan, 1, 5000), 5000);
    assert.equal(nextDelayMs(plan, 3, 500), 4000);
  });
});

describe('Retry-After', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  const cases: [header: string | undefined, expectedMs: number][] = [
    [undefined, 0],
    ['3', 3000],
    ['86400', 3_600_000],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
    ['Thu, 01 Jan 2025 00:00:10 GMT', 0],
    ['soon', 0],
  ];
  for (const [header, expectedMs] of cases)
    it(`of ${header} is ${expectedMs} ms`, () => assert.equal(readRetryAfterMs(header, nowMs), expectedMs));
});
