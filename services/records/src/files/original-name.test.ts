import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { originalNameOf } from './original-name.ts';

const table: readonly [sent: string, kept: string | null][] = [
  ['My Photo.PNG', 'My Photo.PNG'],
  ['a "quoted" name.txt', 'a "quoted" name.txt'],
  ["l'été 100 %.txt", "l'été 100 %.txt"],
  ['U\u0308bung.txt', 'Übung.txt'],
  ['🎉 party 👩‍👩‍👧.png', '🎉 party 👩‍👩‍👧.png'],
  ['می\u200Cخواهم.pdf', 'می\u200Cخواهم.pdf'],
  ['.env', '.env'],
  ['', null],
  [' ', null],
  ['.', null],
  ['..', null],
  ['. . .', null],
  ['\u200D', null],
  ['\u3164', null],
  ['\u0301', null],
  ['../../etc/passwd', 'passwd'],
  ['..\\..\\boot.ini', 'boot.ini'],
  ['a/..', null],
  ['a\r\nSet-Cookie: b=c.txt', 'aSet-Cookie: b=c.txt'],
  ['a\u2028b\u0085c\0.txt', 'abc.txt'],
  ['photo\u202Egpj.exe', 'photogpj.exe'],
  ['\u2067a\u2069.txt', 'a.txt'],
  [`${'x'.repeat(300)}.txt`, `${'x'.repeat(251)}.txt`],
  [`${'語'.repeat(300)}.png`, `${'語'.repeat(83)}.png`],
  [`${'x'.repeat(300)}.${'y'.repeat(300)}`, `${'x'.repeat(204)}.${'y'.repeat(50)}`],
];

for (const [sent, kept] of table)
  test(`${JSON.stringify(sent).slice(0, 40)} is kept as ${JSON.stringify(kept)?.slice(0, 40)}`, () =>
    assert.equal(originalNameOf(sent), kept));

test('what is kept has at most 255 bytes and no folder, and is kept the same again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (sent) => {
      const kept = originalNameOf(sent);
      if (kept === null) return;
      assert.ok(Buffer.byteLength(kept) <= 255);
      assert.doesNotMatch(kept, /[/\\\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
      assert.equal(originalNameOf(kept), kept);
    }),
    { numRuns: 300, seed: 1 },
  );
});
