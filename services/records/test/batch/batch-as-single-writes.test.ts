import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from '../records-fixture.ts';
import { batches, collectionsOf } from './batch-model.ts';
import { createTwins, type Twins } from './twins.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_261_123);
const runs = Number(process.env.FUZZ_RUNS ?? 120);

describe('a batch', { skip: skipWithoutDatabase }, () => {
  let fixture: RecordsFixture;
  let twins: Twins;

  before(async () => {
    fixture = await startRecords([...collectionsOf('a_'), ...collectionsOf('b_')]);
    twins = createTwins(fixture);
  });
  after(() => fixture?.stop());

  it(`equals its operations one after the other (FUZZ_SEED=${seed}) [batch §4.1]`, async () => {
    const sample = fc.sample(batches, { numRuns: runs, seed });
    let done = 0;
    let refused = 0;
    for (const batch of sample) {
      const { alone, together } = await twins.run(batch);
      assert.deepEqual(together, alone, JSON.stringify(batch));
      if (alone.refusal) refused += 1;
      else done += 1;
    }
    // The comparison is only meaningful if many operations do something.
    assert.ok(done > runs / 8 && refused > runs / 10, `${done} done, ${refused} refused`);
    assert.deepEqual(await twins.state('a_'), await twins.state('b_'));
  });
});
