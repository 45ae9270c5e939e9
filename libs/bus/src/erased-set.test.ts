import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createErasedSet, type ErasedRow } from './erased-set.ts';

const rowsOf = (count: number, collectionId: string, erasedAtMs: number): ErasedRow[] =>
  Array.from({ length: count }, (_, index) => ({ collectionId, recordId: `record-${index}`, erasedAtMs }));

describe('a set of erased records', () => {
  it('holds a record in at most 50 bytes', () => {
    const set = createErasedSet();
    const count = 200_000;
    for (let done = 0; done < count; done += 10_000) {
      const part = Array.from({ length: 10_000 }, (_, index) => ({
        collectionId: 'c1',
        recordId: `0198aaaa-bbbb-7ccc-8ddd-${String(done + index).padStart(12, '0')}`,
        erasedAtMs: 1000,
      }));
      set.add(part);
    }
    assert.equal(set.size, count);
    assert.ok(set.bytes <= 50 * count, `${set.bytes} bytes`);
  });

  it('knows each record up to its time, in its collection', () => {
    const set = createErasedSet();
    set.add(rowsOf(5000, 'c1', 2000));
    for (const { recordId: id } of rowsOf(5000, 'c1', 0)) {
      assert.ok(set.isErasedSince({ collectionId: 'c1', id }, 2000), id);
      assert.ok(set.isErasedSince({ collectionId: undefined, id }, 1000), id);
      assert.ok(!set.isErasedSince({ collectionId: 'c1', id }, 2001), id);
      assert.ok(!set.isErasedSince({ collectionId: 'c2', id }, 1000), id);
      assert.ok(!set.isErasedSince({ collectionId: 'c1', id: `${id}x` }, 1000), id);
    }
  });

  it('keeps the later time, and apart what has one id in two collections', () => {
    const set = createErasedSet();
    set.add(rowsOf(1, 'c1', 5000));
    set.add(rowsOf(1, 'c1', 4000));
    set.add(rowsOf(1, 'c2', 1000));
    assert.equal(set.size, 2);
    assert.ok(set.isErasedSince({ collectionId: 'c1', id: 'record-0' }, 5000));
    assert.ok(!set.isErasedSince({ collectionId: 'c2', id: 'record-0' }, 1001));
    assert.ok(set.isErasedSince({ collectionId: undefined, id: 'record-0' }, 5000));
  });

  it('drops what was erased before a time', () => {
    const set = createErasedSet();
    assert.ok(!set.isErasedSince({ collectionId: 'c1', id: 'record-0' }, 0));
    set.add(rowsOf(1000, 'old', 1000));
    set.add(rowsOf(10, 'new', 2000));
    set.dropBefore(2000);
    assert.deepEqual([set.size, set.earliestMs], [10, 2000]);
    assert.ok(!set.isErasedSince({ collectionId: 'old', id: 'record-1' }, 0));
    assert.ok(set.isErasedSince({ collectionId: 'new', id: 'record-1' }, 2000));
  });
});
