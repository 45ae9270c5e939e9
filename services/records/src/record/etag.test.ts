import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { etagOf, isNoneMatch, versionsOfIfMatch } from './etag.ts';

describe('etag', () => {
  it('is weak and made of updated_at', () => assert.equal(etagOf(1700000000), 'W/"1700000000"'));
});

describe('If-None-Match', () => {
  const rows: [string, string | undefined, boolean][] = [
    ['is absent', undefined, false],
    ['is the weak tag', 'W/"17"', true],
    ['is the strong form', '"17"', true],
    ['is another tag', 'W/"18"', false],
    ['is a list with the tag', '"a", W/"17" ,"b,c"', true],
    ['is a list without it', '"1", "7", "x17"', false],
    ['is any', ' * ', true],
    ['is no tag at all', '17', false],
  ];
  for (const [title, header, expected] of rows) {
    it(`${title}: ${expected}`, () => assert.equal(isNoneMatch(header, 17), expected));
  }
});

describe('If-Match', () => {
  const rows: [string, string | undefined, number[] | undefined][] = [
    ['is absent', undefined, undefined],
    ['is any', '*', undefined],
    ['is a list', 'W/"17", "18"', [17, 18]],
    ['names nothing of ours', '"abc", "1e3", "99999999999999999999"', []],
    ['is no tag at all', '17', []],
  ];
  for (const [title, header, expected] of rows) {
    it(title, () => assert.deepEqual(versionsOfIfMatch(header), expected));
  }
});
