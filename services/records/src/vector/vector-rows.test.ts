import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VectorRows } from './vector-rows.ts';

const version = (place: number, transaction = 1) => ({ place, transaction });
const x = Float64Array.of(1, 0);
const y = Float64Array.of(0, 1);
const slotOf = (rows: VectorRows, place: number, transaction?: number): number => {
  const slot = rows.find(version(place, transaction));
  assert.ok(slot !== undefined);
  return slot;
};

describe('vectors in memory', () => {
  it("are found only by their row's version", () => {
    const rows = new VectorRows(2);
    rows.put(version(5), 'a', x);
    assert.equal(rows.product(slotOf(rows, 5), Float64Array.of(0.5, 3)), 0.5);
    assert.equal(rows.find(version(5, 2)), undefined);
    assert.equal(rows.find(version(6)), undefined);
  });

  it('stay readable during a read, and free their memory afterwards', async () => {
    const rows = new VectorRows(2);
    rows.put(version(5), 'a', x);
    await rows.reading(async () => {
      const old = slotOf(rows, 5);
      rows.put(version(6), 'a', y);
      rows.put(version(5, 9), 'b', y);
      assert.deepEqual([rows.product(old, x), rows.idOf(old), rows.count], [1, 'a', 2]);
    });
    const { bytes } = rows;
    rows.put(version(7), 'c', x);
    assert.equal(rows.bytes, bytes);
    assert.deepEqual([rows.product(slotOf(rows, 7), x), rows.product(slotOf(rows, 6), x)], [1, 0]);
  });

  it('are removed with their rows', async () => {
    const rows = new VectorRows(2);
    for (const [index, id] of ['a', 'b', 'c'].entries()) rows.put(version(index), id, x);
    rows.keepOnly([slotOf(rows, 1)]);
    assert.deepEqual([rows.count, rows.find(version(0)), rows.find(version(2))], [1, undefined, undefined]);
  });

  it('allocate memory in chunks', () => {
    const rows = new VectorRows(4096);
    for (let index = 0; index < 65; index += 1)
      rows.put(
        version(index),
        String(index),
        Float64Array.from({ length: 4096 }, () => index),
      );
    assert.equal(rows.bytesOfChunk, 2 ** 20);
    assert.ok(rows.bytes > 2 * 2 ** 20 && rows.bytes < 2.1 * 2 ** 20);
    assert.equal(
      rows.product(
        slotOf(rows, 64),
        Float64Array.from({ length: 4096 }, () => 1),
      ),
      64 * 4096,
    );
  });
});
