import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileKey, previewKey } from '@recordbus/storage';
import fc from 'fast-check';
import { storedNameOf } from './stored-name.ts';

const table: readonly [original: string, slug: string, extension: string][] = [
  ['Photo of Me.JPG', 'photo_of_me', '.jpg'],
  ['Überraschung é.txt', 'überraschung_é', '.txt'],
  ['U\u0308bung.txt', 'übung', '.txt'],
  ['archive.tar.gz', 'archive_tar', '.gz'],
  ['README', 'readme', ''],
  ['.env', 'env', ''],
  ['trailing.', 'trailing', ''],
  ['', 'file', ''],
  ['..', 'file', ''],
  ['......', 'file', ''],
  ['日本語.png', '日本語', '.png'],
  ['отчёт.ДОК', 'отчёт', '.док'],
  ['तस्वीर १.jpg', 'तस्वीर_१', '.jpg'],
  ['🎉.png', 'file', '.png'],
  ['a🎉\u0301b.png', 'a_b', '.png'],
  ['\u0301a.png', 'a', '.png'],
  ['photo\u202Egpj.exe', 'photo_gpj', '.exe'],
  ['a\u200Bb\u3164c.txt', 'a_b_c', '.txt'],
  ['../../etc/passwd', 'passwd', ''],
  ['C:\\Users\\me\\a.doc', 'a', '.doc'],
  ['a\0b\r\n.txt', 'a_b', '.txt'],
  [`a${'\u0315\u0300'.repeat(250_000)}.png`, `à${'\u0300'.repeat(74)}`, '.png'],
  [`${'x'.repeat(500)}.${'y'.repeat(500)}`, 'x'.repeat(100), `.${'y'.repeat(20)}`],
  [`${'語'.repeat(300)}.png`, '語'.repeat(50), '.png'],
];

for (const [original, slug, extension] of table)
  test(`${JSON.stringify(original).slice(0, 40)} is stored as a slug, ten random characters and its extension`, () => {
    const name = storedNameOf(original);
    assert.equal(name.slice(0, slug.length), slug);
    assert.match(name, /_[0-9a-z]{10}(?:\.[^.]+)?$/);
    assert.equal(name.slice(/_[0-9a-z]{10}(?=\.|$)/.exec(name)?.index ?? 0).slice(11), extension);
  });

test('every text gets a name that its file and the previews of it can have', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (original) => {
      const key = fileKey('c1', 'r1', storedNameOf(original));
      assert.notEqual(key && previewKey(key, '4096x4096f'), undefined);
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('the same original gets a different name each time', () => {
  assert.equal(new Set(Array.from({ length: 100 }, () => storedNameOf('a.txt'))).size, 100);
});
