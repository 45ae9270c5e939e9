import { describe, it } from 'node:test';
import { skipWithoutDatabase } from '../records-fixture.ts';
import { compareBatches } from './compare-batches.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_261_123);
const runs = Number(process.env.FUZZ_RUNS ?? 120);

describe('many batches', { skip: skipWithoutDatabase }, () => {
  it(`equal their operations one after the other (FUZZ_SEED=${seed}) [batch §4.1]`, () => compareBatches(seed, runs));
});
