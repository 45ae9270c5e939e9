import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareDelivered } from './live-readable.ts';
import { skipWithoutDatabase } from './records-fixture.ts';

describe('what is delivered, in many schemas', { skip: skipWithoutDatabase }, () => {
  const seeds = Array.from({ length: 6 }, (_, index) => index + 101);
  let candidates = 0;

  for (const seed of seeds)
    it(`is what is readable, schema ${seed}`, async (t) => {
      const compared = await compareDelivered(seed, 12);
      candidates += compared.candidates;
      t.diagnostic(JSON.stringify(compared));
      assert.ok(compared.shown > 0 && compared.hidden > 0, JSON.stringify(compared));
    });

  it('names the callers whom it concerns', () => assert.ok(candidates > 10, `${candidates}`));
});
