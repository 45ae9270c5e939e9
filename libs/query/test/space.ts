import fc from 'fast-check';
import type { QueryFixture } from './query-fixture.ts';
import { rulesArbitrary } from './random-rules.ts';
import { collectionsArbitrary, recordsArbitrary } from './random-schema.ts';
import type { World } from './world.ts';

/** A random schema with its records. */
export interface Space extends World {
  /** Makes the same schema again. */
  readonly seed: number;
  /** The collections with some sets of view rules; those in `collections` are open. */
  readonly ruled: readonly World['collections'][];
}

const numberOfRuleSets = 5;

const sample = <T>(arbitrary: fc.Arbitrary<T>, seed: number, numRuns: number): T[] =>
  fc.sample(arbitrary, { numRuns, seed });

/** Makes a seed's schema and records, and their tables. */
export async function startSpace(fixture: QueryFixture, seed: number): Promise<Space> {
  const [collections = {}] = sample(collectionsArbitrary, seed, 1);
  const [records = {}] = sample(recordsArbitrary(collections), seed, 1);
  await fixture.createTables(collections);
  await fixture.fill({ collections, records });
  return { seed, collections, records, ruled: sample(rulesArbitrary(collections), seed, numberOfRuleSets) };
}
