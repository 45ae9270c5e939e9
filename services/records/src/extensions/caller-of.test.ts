import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callerOf } from './caller-of.ts';

test('extensions get a service key as a caller with its id and scopes [keys §2.2]', () => {
  const scopes = ['records:posts:read'];
  const principal = { type: 'service', id: 'k1', scopes, rateLabel: 'ci', expiresAtSec: 1_900_000_000 } as const;
  assert.deepEqual(callerOf(principal), { type: 'service', id: 'k1', scopes });
});
