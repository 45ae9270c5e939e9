import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Encoding, toUtf8 } from './to-utf8.ts';

async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function convert(bytes: Buffer, named: Encoding | undefined, size: number): Promise<string> {
  const converted: Buffer[] = [];
  for await (const piece of toUtf8(piecesOf(bytes, size), { named })) converted.push(piece);
  return Buffer.concat(converted).toString();
}

const utf16le = (text: string): Buffer => Buffer.from(text, 'utf16le');

test('a body is converted in any pieces, and its mark is skipped [import §3.4]', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.integer({ min: 1, max: 9 }),
      async (text, size) => {
        const plain = `x${text}`;
        const marked = `\ufeff${plain}`;
        assert.equal(await convert(Buffer.from(plain), undefined, size), plain);
        assert.equal(await convert(Buffer.from(marked), undefined, size), plain);
        assert.equal(await convert(utf16le(marked), undefined, size), plain);
        assert.equal(await convert(utf16le(marked).swap16(), undefined, size), plain);
        assert.equal(await convert(utf16le(plain), 'utf-16le', size), plain);
        assert.equal(await convert(utf16le(plain).swap16(), 'utf-16be', size), plain);
      },
    ),
    { numRuns: 100, seed: 1 },
  );
});

test('bytes that are not in the encoding are refused with their place [import §3.4]', async () => {
  const refusal = { status: 400, message: /not utf-8, after 3 bytes/ };
  await assert.rejects(convert(Buffer.from([97, 98, 99, 0xff, 100]), undefined, 1), refusal);
  await assert.rejects(convert(Buffer.from([97, 98, 0xc3]), 'utf-8', 10), { status: 400 });
  await assert.rejects(convert(Buffer.from([97]), 'utf-16le', 10), { status: 400 });
});
