import assert from 'node:assert/strict';
import { test } from 'node:test';
import { f } from './filter.ts';

const literals: readonly [value: Parameters<typeof f>[1], literal: string][] = [
  [null, 'null'],
  [true, 'true'],
  [-1.5, '-1.5'],
  [1e21, '1000000000000000000000'],
  [-1.25e21, '-1250000000000000000000'],
  [1.5e-7, '0.00000015'],
  [-2e-10, '-0.0000000002'],
  [5e-324, `0.${'0'.repeat(323)}5`],
  [12n, '12'],
  [new Date(1_700_000_000_999), '1700000000'],
  ['', '""'],
  ['a "b" \\ c\\', '"a \\"b\\" \\\\ c\\\\"'],
  ['line\nbreak // no comment', '"line\nbreak // no comment"'],
  [['a', 1], '("a", 1)'],
  [f`a = ${1} || b = ${2}`, '(a = 1 || b = 2)'],
];

for (const [value, literal] of literals)
  test(`a value becomes ${literal.slice(0, 40)} [filters §2.3, §2.4]`, () => {
    assert.equal(f`x = ${value ?? null}`.text, `x = ${literal}`);
  });

test('a value without a literal is refused', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 'nul\0', [], undefined, {}, new Date(Number.NaN)])
    assert.throws(() => f`x = ${value as never}`, { code: 'invalid_argument' });
});
