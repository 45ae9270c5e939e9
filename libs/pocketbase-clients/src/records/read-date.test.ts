import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDate } from './read-date.ts';

test("a date without a zone is UTC, whatever the server's zone", () => {
  const before = process.env.TZ;
  process.env.TZ = 'America/New_York';
  try {
    assert.equal(readDate('2026-01-02 03:04:05'), '2026-01-02T03:04:05.000Z');
    assert.equal(readDate('Fri Jan  2 03:04:05 2026'), '2026-01-02T03:04:05.000Z');
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

test('a time with minutes only is read, as an input datetime-local sends it', () => {
  assert.equal(readDate('2026-01-02T03:04'), '2026-01-02T03:04:00.000Z');
});

test('a text that is no date is none', () => {
  for (const text of [
    '',
    'T',
    '2026-02-30',
    '2026-00-10',
    '2026-13-01',
    '25:00',
    '2026-01-02T25:00:00Z',
    `2026-01-02${' '.repeat(1_000_000)}`,
  ])
    assert.equal(readDate(text), null, text.slice(0, 40));
});
