import assert from 'node:assert/strict';
import { test } from 'node:test';
import { banner } from './banner.ts';

const stack = { url: 'http://localhost:39829', setupToken: undefined };

test('the banner says why the address is not the one that guides name', () => {
  assert.match(banner(stack, { durationMs: 1, isElsewhere: true }), /:39829 .*\n.*port 8080.*SERVICE_PORT/);
  assert.doesNotMatch(banner(stack, { durationMs: 1, isElsewhere: false }), /8080/);
});
