import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testCollection } from '../../test/test-collection.ts';
import { findKnownTotal, keepTotal, recountMs, snapshotLifetimeMs } from './total.ts';

const total = { total: 3, snapshot: '10:12:11' };

describe('a known total', () => {
  it('does not exist before the first count', () => {
    assert.equal(findKnownTotal(testCollection('posts', []), 0), undefined);
  });

  it('is used until the next count is due, which one caller runs', () => {
    const posts = testCollection('posts', []);
    keepTotal(posts, total, true, 0);
    assert.deepEqual(findKnownTotal(posts, recountMs - 1), total);
    keepTotal(posts, { total: 4, snapshot: '20:20:' }, false, recountMs - 1);
    assert.equal(findKnownTotal(posts, recountMs), undefined);
    assert.equal(findKnownTotal(posts, recountMs)?.total, 4);
  });

  it('is not used when its snapshot is older than the outbox', () => {
    const posts = testCollection('posts', []);
    keepTotal(posts, total, true, 0);
    for (const _ of [1, 2]) assert.equal(findKnownTotal(posts, snapshotLifetimeMs + 1), undefined);
  });

  it("does not outlive its collection's schema version", () => {
    keepTotal(testCollection('posts', []), total, true, 0);
    assert.equal(findKnownTotal(testCollection('posts', []), 1), undefined);
  });
});
