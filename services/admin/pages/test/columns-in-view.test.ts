import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { columnsInView, drawsPart } from '../src/records/columns-in-view.ts';

describe("a grid's drawn columns", () => {
  it('are all if there are few', () => {
    assert.equal(drawsPart(16), false);
    assert.deepEqual(columnsInView(16, 40, 3), { from: 0, until: 16 });
    assert.deepEqual(columnsInView(0, 0, 0), { from: 0, until: 0 });
  });

  it('hold every column in view, at every scroll position', () => {
    const count = 200;
    for (let scrolled = 0; scrolled <= count; scrolled += 0.37)
      for (const width of [2, 7.5, 15]) {
        const { from, until } = columnsInView(count, scrolled, width);
        const last = Math.min(count, Math.ceil(scrolled + width));
        assert.ok(from <= scrolled && until >= last, `${from} to ${until} at ${scrolled}, ${width} wide`);
        assert.ok(from < until && until - from <= width + 13, `${from} to ${until} at ${scrolled}, ${width} wide`);
      }
  });

  it('stay the same while one scrolls a little', () => {
    assert.deepEqual(columnsInView(200, 10, 7), columnsInView(200, 10.9, 7));
  });

  it('are never none, even in a frame without a width or beyond the end', () => {
    for (const [scrolled, width] of [
      [0, 0],
      [500, 7],
      [-3, 0],
    ] as const) {
      const { from, until } = columnsInView(200, scrolled, width);
      assert.ok(from < until && until <= 200, `${from} to ${until}`);
    }
  });
});
