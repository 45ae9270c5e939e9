import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareDelivered } from './live-readable.ts';
import { skipWithoutDatabase } from './records-fixture.ts';

describe('what is delivered', { skip: skipWithoutDatabase }, () => {
  // The slow test compares more schemas.
  it('is what is readable', async () => {
    const { shown, hidden } = await compareDelivered(1, 8);
    assert.ok(shown > 30 && hidden > 30, `${shown} records were shown, ${hidden} hidden`);
  });
});
