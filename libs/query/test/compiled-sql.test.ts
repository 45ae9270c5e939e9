import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { compareSchema } from './against-evaluator.ts';
import { type QueryFixture, startDatabase } from './query-fixture.ts';

/** A small part of what `compiled-sql.slow.test.ts` compares. */
describe('compiled SQL, briefly', { skip: skipWithoutDatabase }, () => {
  let fixture: QueryFixture;

  before(async () => {
    fixture = await startDatabase();
  });
  after(() => fixture?.stop());

  for (const seed of [1, 2, 3])
    it(`finds, sorts, hides and refuses as the evaluator does, schema ${seed}`, () => compareSchema(fixture, seed, 8));
});
