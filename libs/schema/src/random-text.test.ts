import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRandomText } from './random-text.ts';

for (const pattern of [
  'users[0-9]{6}',
  '[a-z0-9]{15}',
  '[A-Z]{2}-\\d{4}',
  '(red|green|blue)-(?:a|b)?x',
  '[a-zA-Z_\\-.]{3,5}',
  '\\w+@\\w*\\.',
  'a{2,}[]x]',
  '.{8}',
  'ü😀[ä-ö]{2}',
  'a|b|',
])
  test(`texts of ${pattern} match it`, () => {
    const make = compileRandomText(pattern);
    assert.ok(make);
    const expected = new RegExp(`^(?:${pattern.replace('[]x]', '[\\]x]')})$`, 'u');
    for (let n = 0; n < 300; n += 1) {
      const text = make();
      assert.match(text, expected);
    }
  });

test('every length and every character comes up, and no text twice', () => {
  const make = compileRandomText('[a-c]{1,3}');
  const found = new Set(Array.from({ length: 5000 }, () => make?.()));
  assert.equal(found.size, 3 + 9 + 27);
  const long = compileRandomText('[a-z0-9]{15}');
  assert.equal(new Set(Array.from({ length: 2000 }, () => long?.())).size, 2000);
});

for (const pattern of [
  '',
  '^a$',
  '[^a]',
  'a(?=b)',
  '(?i)a',
  '\\bword',
  '\\pL',
  '[[:alpha:]]',
  '[z-a]',
  '[\\d-z]',
  '[a',
  '[',
  '(a',
  'a)',
  'a{3,2}',
  '*a',
  'a**',
  '\\',
  '[a-z]{1001}',
  '([a-z]{100}){100}',
  '(((a{1000})*)*)*',
  '('.repeat(100) + ')'.repeat(100),
  'a'.repeat(301),
  '\0',
  '[\u0001-\u{10ffff}]',
])
  test(`${JSON.stringify(pattern.slice(0, 40))} is not a pattern for random texts`, () =>
    assert.equal(compileRandomText(pattern), undefined));
