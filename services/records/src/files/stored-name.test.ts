import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedNameOf } from './stored-name.ts';

const table: readonly [original: string, slug: string, extension: string][] = [
  ['Photo of Me.JPG', 'photo_of_me', '.jpg'],
  ['Überraschung é.txt', 'uberraschung_e', '.txt'],
  ['archive.tar.gz', 'archive_tar', '.gz'],
  ['README', 'readme', ''],
  ['.env', 'env', ''],
  ['trailing.', 'trailing', ''],
  ['', 'file', ''],
  ['..', 'file', ''],
  ['日本語.png', 'file', '.png'],
  ['../../etc/passwd', 'passwd', ''],
  ['C:\\Users\\me\\a.doc', 'a', '.doc'],
  ['a\0b\n.txt', 'a_b', '.txt'],
  [`a${'\u0315\u0300'.repeat(250_000)}.png`, 'a', '.png'],
  [`${'x'.repeat(500)}.${'y'.repeat(500)}`, 'x'.repeat(100), `.${'y'.repeat(20)}`],
];

for (const [original, slug, extension] of table)
  test(`${JSON.stringify(original).slice(0, 40)} is stored as a slug, ten random characters and its extension`, () => {
    const name = storedNameOf(original);
    assert.match(name.slice(slug.length, slug.length + 11), /^_[0-9a-z]{10}$/);
    assert.equal(name.slice(0, slug.length), slug);
    assert.equal(name.slice(slug.length + 11), extension);
  });

test('the same original gets a different name each time', () => {
  assert.equal(new Set(Array.from({ length: 100 }, () => storedNameOf('a.txt'))).size, 100);
});
