import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LivePlan } from '@recordbus/live';
import type { Collection } from '@recordbus/schema';
import { testCollection } from '../../test/test-collection.ts';
import { createLivePlans } from './live-plans.ts';

const notes = testCollection('notes', [{ name: 'title' }]);
const guest = { type: 'guest', rejectedToken: false } as const;

/** Plans that are too long to be kept compiled. */
function makePlans() {
  const collections = { version: 1, find: (): Collection | undefined => notes };
  const plans = createLivePlans({ collections, schema: { findCollection: () => notes } });
  const made = Array.from({ length: 300 }, (_, n): LivePlan => {
    const request = { collection: 'notes', fields: `title,field${n}`.repeat(1000) };
    const { key, crossed } = plans.compile(notes, request, guest);
    return {
      key,
      request,
      collectionId: notes.id,
      callerKind: 'guest',
      readsValues: false,
      hasCandidates: false,
      crossed,
    };
  });
  return { plans, made, collections };
}

test('many plans are compared while other work runs, and once for each schema version [cost §4.1]', async () => {
  const { plans, made, collections } = makePlans();
  let turns = 0;
  const count = setInterval(() => (turns += 1), 1);
  assert.ok((await plans.areCurrent(made)).every(Boolean));
  clearInterval(count);
  assert.ok(turns > 2, `other work had ${turns} turns`);
  let finds = 0;
  const { find } = collections;
  collections.find = () => {
    finds += 1;
    return find();
  };
  assert.ok((await plans.areCurrent(made)).every(Boolean));
  assert.equal(finds, 0);
  collections.version = 2;
  collections.find = () => undefined;
  assert.ok(!(await plans.areCurrent(made)).some(Boolean));
});
