import assert from 'node:assert/strict';
import fc from 'fast-check';
import { startRecords } from '../records-fixture.ts';
import { batches, collectionsOf } from './batch-model.ts';
import { createTwins } from './twins.ts';

/** Runs random batches, each on one collection at once and on its twin operation by operation, and compares the results. */
export async function compareBatches(seed: number, runs: number): Promise<void> {
  const fixture = await startRecords([...collectionsOf('a_'), ...collectionsOf('b_')]);
  try {
    const twins = createTwins(fixture);
    let refused = 0;
    for (const batch of fc.sample(batches, { numRuns: runs, seed })) {
      const { alone, together } = await twins.run(batch);
      assert.deepEqual(together, alone, JSON.stringify(batch));
      if (alone.refusal) refused += 1;
    }
    // The comparison is only meaningful if many operations do something.
    const done = runs - refused;
    assert.ok(done > runs / 8 && refused > runs / 10, `${done} done, ${refused} refused`);
    assert.deepEqual(await twins.state('a_'), await twins.state('b_'));
  } finally {
    await fixture.stop();
  }
}
