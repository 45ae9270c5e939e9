import type { Collection } from '@recordbus/schema';
import type fc from 'fast-check';
import { expressionArbitrary } from './expression-arbitrary.ts';
import { print } from './print.ts';
import { fullSight } from './sight.ts';
import { findWords } from './vocabulary.ts';
import type { World } from './world.ts';

/* Random schemas, rules, filters and records, for tests in packages that read records. */

export { rulesArbitrary } from './random-rules.ts';
export { collectionsArbitrary, idsOf, recordsArbitrary } from './random-schema.ts';
export { samplesFor } from './sample-values.ts';

/** Client filters over a collection. Some name what their caller may not see. */
export function filterArbitrary({ name }: Collection, collections: World['collections']): fc.Arbitrary<string> {
  const words = (from: string) => {
    const collection = collections[from];
    if (!collection) throw new Error(`no collection ${from}`);
    return findWords(collection, collections, { sight: fullSight, maxHops: from === name ? 2 : 1 });
  };
  return expressionArbitrary({ words, request: undefined, related: Object.keys(collections) }, name, 1).map(print);
}
