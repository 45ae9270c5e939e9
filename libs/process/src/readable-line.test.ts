import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readableLine } from './readable-line.ts';

const line = (fields: object): string =>
  readableLine(
    JSON.stringify({ level: 'info', time: '2026-11-21T10:00:00.000Z', service: 'gateway', ...fields }),
  ).slice(9);

test('a refused request is one short line', () => {
  const fields = { method: 'GET', path: '/api/v1/nope', status: 404, duration_ms: 2.31, ip: '127.0.0.1' };
  assert.equal(
    line({ ...fields, msg: 'request', trace_id: 'a' }),
    'gateway: 404 GET /api/v1/nope in 2 ms ip=127.0.0.1\n',
  );
});

test('other lines have their level, fields and stack', () => {
  assert.equal(line({ level: 'warn', msg: 'late', to: 'a b', n: 1 }), 'WARN gateway: late to="a b" n=1\n');
  assert.equal(
    line({ level: 'error', msg: 'failed', err: { message: 'm', stack: 'Error: m\n    at x' } }),
    'ERROR gateway: failed\n    Error: m\n    at x\n',
  );
});

test("a client's text cannot move the cursor or begin a line", () => {
  const hostile = '/\u001b[2J\u009b1A\r\nfatal: \u2028\u202e';
  for (const fields of [
    { method: 'GET', path: hostile, status: 400, duration_ms: 1 },
    { msg: hostile },
    { x: hostile },
  ])
    assert.doesNotMatch(line({ msg: 'request', ...fields }).slice(0, -1), /[\p{Cc}\p{Cf}\u2028]/u);
});
