import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Query } from '@recordbus/database';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { followCollections, loadCollections } from './collection-store.ts';

const skip = skipWithoutDatabase;

const insert = (query: Query, id: string) =>
  query({
    text: `insert into system.collections (id, name, type, fields, created_at, updated_at)
      values ($1, $1, 'base', '[]', 5, 6)`,
    values: [id],
  });

test('within a transaction, only collections that changed are read again', { skip }, async () => {
  const temporary = await openTemporaryDatabase();
  try {
    await temporary.database.transaction(async (query) => {
      const load = followCollections(query);
      assert.deepEqual(await load(), []);
      await insert(query, 'b');
      await insert(query, 'c');
      const [b, c] = await load();
      await insert(query, 'a');
      await query({ text: "update system.collections set name = 'other' where id = 'b'", values: [] });
      const after = await load();
      assert.deepEqual(
        after.map(({ id, name }) => [id, name]),
        [
          ['a', 'a'],
          ['b', 'other'],
          ['c', 'c'],
        ],
      );
      assert.notEqual(after[1], b);
      assert.equal(after[2], c, 'the same object');
      await query({ text: "delete from system.collections where id <> 'b'", values: [] });
      assert.deepEqual(await load(), [after[1]]);
      assert.deepEqual((await loadCollections(query)).collections, [after[1]], 'as it is stored');
    });
  } finally {
    await temporary.remove();
  }
});
