import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareOne, createCounts, describeDifference } from './against-pocketbase/compare.ts';
import { createOurs } from './against-pocketbase/ours.ts';
import { createRandom } from './against-pocketbase/random.ts';
import { findPocketBase, startPocketBase, startProduct } from './against-pocketbase/servers.ts';
import { createTheirs } from './against-pocketbase/theirs.ts';
import { createWorld } from './against-pocketbase/world.ts';

/** `POCKETBASE_RULES=20000 POCKETBASE_SEED=7` asks more, or other ones. The seed is a world's. */
const rules = Number(process.env.POCKETBASE_RULES ?? 2400);
const firstSeed = Number(process.env.POCKETBASE_SEED ?? 1);
const rulesOfWorld = 300;
const maxDifferences = 5;

const found = await findPocketBase();

test('random rules admit what they admit in PocketBase, or less where the translation says so', {
  skip: 'missing' in found && found.missing,
  timeout: 1_800_000,
}, async (t) => {
  assert.ok('program' in found);
  const pocketBase = await startPocketBase(found.program);
  t.after(() => pocketBase.stop());
  const product = await startProduct();
  t.after(() => product.stop());
  const counts = createCounts();
  const differences: string[] = [];
  for (let seed = firstSeed; seed < firstSeed + rules / rulesOfWorld; seed += 1) {
    const random = createRandom(seed);
    const world = createWorld(random);
    const [theirs, ours] = await Promise.all([
      createTheirs(pocketBase.url, pocketBase.admin, world),
      createOurs(product.url, product.admin, world),
    ]);
    const both = { world, theirs, ours };
    for (let rule = 0; rule < rulesOfWorld && differences.length < maxDifferences; rule += 1) {
      const slot = random.pick(['list', 'list', 'create', 'update'] as const);
      const difference = await compareOne(both, slot, random, counts);
      if (difference) differences.push(describeDifference(difference, both, seed));
    }
  }
  const { locks: _, ...numbers } = counts;
  t.diagnostic(`PocketBase and ours: ${JSON.stringify(numbers)}`);
  assert.deepEqual(differences, [], differences.join('\n\n'));
  // The rules tell the servers apart: enough are translated, and admit some callers to some records.
  assert.ok(counts.exact > rules / 4 && counts.telling > rules / 20, JSON.stringify(numbers));
});
