import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { joinQuantity, quantityText, splitQuantity, unitsOf, wrongOf } from '../src/settings/quantity.ts';

describe('an amount with a unit', () => {
  const seconds = unitsOf({ kind: 'time', unit: 's' }) ?? [];
  const sizes = unitsOf({ kind: 'size' }) ?? [];

  for (const [text, units, amount, factor] of [
    ['604800', seconds, '7', 86_400],
    ['900', seconds, '15', 60],
    ['61', seconds, '61', 1],
    ['0', seconds, '0', 1],
    ['soon', seconds, 'soon', 1],
    ['1073741824', sizes, '1', 2 ** 30],
    ['10737418240', sizes, '10', 2 ** 30],
  ] as const)
    test(`${text} is ${amount} × ${factor}, and back`, () => {
      const found = splitQuantity(text, units);
      assert.deepEqual(found, { amount, factor });
      assert.equal(joinQuantity(found), text);
    });

  test('a fraction is stored as a whole number, and what makes none is refused', () => {
    assert.equal(joinQuantity({ amount: ' 1.5 ', factor: 3600 }), '5400');
    for (const amount of ['1,5', '0.3', '-1', 'ten', '1e3', '9'.repeat(30)]) {
      const text = joinQuantity({ amount, factor: 1 });
      assert.match(String(wrongOf({ kind: 'time', unit: 's' }, text)), /^Write a number/, amount);
    }
    assert.equal(wrongOf({ kind: 'size' }, ''), undefined);
  });

  test('a lifetime outside its bounds is refused, since the server would take the default instead', () => {
    const control = { kind: 'time', unit: 's', min: 60, max: 31_536_000 } as const;
    assert.equal(wrongOf(control, '59'), 'Must be from 1 minute to 365 days.');
    assert.equal(wrongOf(control, '31536001'), 'Must be from 1 minute to 365 days.');
    assert.equal(wrongOf(control, '60'), undefined);
    assert.equal(quantityText('604800', control), '7 days');
  });

  test('a channel rule that is not written yet is refused', () => {
    const text = JSON.stringify([{ pattern: 'a', publish_rule: false, subscribe_rule: '' }]);
    assert.match(String(wrongOf({ kind: 'channels' }, text)), /^Write each custom rule/);
    assert.equal(wrongOf({ kind: 'channels' }, text.replace('false', 'null')), undefined);
  });
});
