import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testCollection } from '../../test/test-collection.ts';
import { createReferrers } from './referrers.ts';

describe('referrers', () => {
  it("are all collections' relation fields that refer to one, including its own", () => {
    const posts = testCollection('posts', [
      { name: 'title' },
      { name: 'parent', type: 'relation', collection: 'posts' },
    ]);
    const notes = testCollection('notes', [
      { name: 'post', type: 'relation', collection: 'posts', options: { cascade: 'restrict' } },
      { name: 'other', type: 'relation', collection: 'notes' },
    ]);
    const find = createReferrers(() => [posts, notes]);
    assert.deepEqual(
      find(posts).map(({ collection, field, cascade }) => [collection.name, field.name, cascade]),
      [
        ['posts', 'parent', 'setNull'],
        ['notes', 'post', 'restrict'],
      ],
    );
    assert.equal(find(posts), find(posts));
  });
});
