import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFileName } from './file-name.ts';

const names = [
  'photo_0123456789.jpg',
  '-a',
  '_',
  'übung_1.txt',
  '日本語.png',
  'फ़ाइल.txt',
  'ملف.pdf',
  '①½',
  'x'.repeat(200),
];

for (const name of names)
  test(`${JSON.stringify(name).slice(0, 40)} can be a stored file's name`, () => assert.equal(isFileName(name), true));

const refused: readonly (readonly [what: string, name: string])[] = [
  ['nothing', ''],
  ['a dot', '.'],
  ['two dots', '..'],
  ['a hidden file', '.hidden'],
  ['a path', 'a/b'],
  ['a path upwards', '../../etc/passwd'],
  ['a path of Windows', 'a\\b'],
  ['a NUL', 'a\0b'],
  ['a line break', 'a\n'],
  ['a space', 'a b'],
  ['a quote', 'a"b'],
  ['a decomposed umlaut', 'u\u0308'],
  ['a mark first', '\u0301a'],
  ['a right-to-left override', 'a\u202Egpj.exe'],
  ['a zero-width space', 'a\u200Bb'],
  ['a joiner', 'a\u200Db'],
  ['a letter that cannot be seen', 'a\u3164b'],
  ['only a letter that cannot be seen', '\u115F'],
  ['half a character', 'a\uD800'],
  ['an emoji', '🎉'],
  ['201 letters', 'x'.repeat(201)],
  ['201 bytes', `${'é'.repeat(100)}x`],
];

for (const [what, name] of refused)
  test(`a stored file's name cannot be ${what}`, () => assert.equal(isFileName(name), false));
