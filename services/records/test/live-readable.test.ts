import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareDelivered } from './live-readable.ts';
import { skipWithoutDatabase } from './records-fixture.ts';

describe('what is delivered', { skip: skipWithoutDatabase }, () => {
  for (const seed of [1, 2])
    it(`is what is readable, schema ${seed}`, async () => {
      const { shown, hidden } = await compareDelivered(seed, 8);
      assert.ok(shown > 30 && hidden > 30, `${shown} records were shown, ${hidden} hidden`);
    });
});
