import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxResponseBytes, responseText } from './response-text.ts';

describe("a captured answer's text", () => {
  const cases: [what: string, bytes: Uint8Array, expected: string][] = [
    ['plain text', Buffer.from('ok'), 'ok'],
    ['nothing', Buffer.alloc(0), ''],
    ['NUL', Buffer.from([0x61, 0, 0x62]), 'a\ufffdb'],
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb'],
    ['a character that the limit of bytes cut', Buffer.from('a€').subarray(0, 3), 'a'],
    ['a text over the limit', Buffer.alloc(4000, 'x'), 'x'.repeat(maxResponseBytes)],
    ['invalid bytes that become longer', Buffer.alloc(2048, 0xff), '\ufffd'.repeat(682)],
    ['a character across the limit', Buffer.from(`${'x'.repeat(2047)}€`), 'x'.repeat(2047)],
  ];
  for (const [what, bytes, expected] of cases) it(`of ${what}`, () => assert.equal(responseText(bytes), expected));
});
