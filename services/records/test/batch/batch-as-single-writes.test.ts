import { describe, it } from 'node:test';
import { skipWithoutDatabase } from '../records-fixture.ts';
import { compareBatches } from './compare-batches.ts';

describe('a batch', { skip: skipWithoutDatabase }, () => {
  // The slow test compares more of them.
  it('equals its operations one after the other [batch §4.1]', () => compareBatches(20_261_123, 30));
});
