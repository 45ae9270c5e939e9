import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { validate, version } from 'uuid';
import { newId } from './id.ts';

const timeOf = (id: string) => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

describe('ids', () => {
  it('are version 7 UUIDs with their creation time', () => {
    const before = Date.now();
    const id = newId();
    assert.ok(validate(id) && version(id) === 7, id);
    assert.ok(timeOf(id) >= before && timeOf(id) <= Date.now() + 1);
  });

  it('are unique and sort by creation', () => {
    const ids = Array.from({ length: 20_000 }, newId);
    assert.deepEqual(ids.toSorted(), ids);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(new Set(ids.map((id) => id.slice(-8))).size > 19_900, true);
  });

  it('still sort by creation when the clock is set back', () => {
    const before = newId();
    mock.timers.enable({ apis: ['Date'], now: 0 });
    try {
      assert.ok(newId() > before);
      assert.equal(timeOf(newId()), timeOf(before));
    } finally {
      mock.timers.reset();
    }
  });
});
