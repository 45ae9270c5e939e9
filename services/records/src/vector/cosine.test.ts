import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cosine, product, unit } from './cosine.ts';

const of = (...components: number[]) => Float64Array.from(components);

describe("two vectors' cosine", () => {
  const rows: [Float64Array, Float64Array, number][] = [
    [of(2, 0), of(5, 0), 1],
    [of(2, 0), of(0, 5), 0],
    [of(2, 0), of(-5, 0), -1],
    [of(1, 0), of(0.6, 0.8), 0.6],
    [of(0, 0), of(1, 2), 0],
    [of(0, 0), of(0, 0), 0],
    [of(1e308, 1e308), of(1e308, 1e308), 1],
    [of(5e-324, 0), of(1e308, 0), 1],
    [of(1e-300, 1e-300), of(-3, -3), -1],
  ];
  for (const [a, b, expected] of rows)
    it(`of ${a} and ${b} is ${expected}`, () => {
      assert.ok(Math.abs(cosine(a, b) - expected) < 1e-15);
      assert.equal(cosine(b, a), cosine(a, b));
    });

  it('agrees with single precision to within 1.2e-7', () => {
    for (const count of [1, 3, 4, 7, 384, 4096]) {
      const [a, b] = [1, 2].map((seed) =>
        Float64Array.from({ length: count }, (_, index) => Math.sin(seed + index * seed)),
      );
      assert.ok(a && b);
      const rows = Float32Array.of(9, 9, ...unit(b));
      assert.ok(Math.abs(product(unit(a), rows, 2) - cosine(a, b)) < 1.2e-7, String(count));
    }
  });
});
