import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { compareExpressions, compareSorts, openCollections } from './against-evaluator.ts';
import { type QueryFixture, startTables } from './query-fixture.ts';

/** A little of what `compiled-sql.slow.test.ts` compares. */
describe('compiled SQL, briefly', { skip: skipWithoutDatabase }, () => {
  let fixture: QueryFixture;

  before(async () => {
    fixture = await startTables(openCollections);
  });
  after(() => fixture?.stop());

  for (const audience of ['rule', 'client', 'admin'] as const)
    it(`finds the records that an expression describes, audience: ${audience}`, () =>
      compareExpressions(fixture, audience, { numRuns: 200, seed: 1 }));

  it('sorts by the value at the end of a path', () => compareSorts(fixture, { numRuns: 60, seed: 2 }));
});
