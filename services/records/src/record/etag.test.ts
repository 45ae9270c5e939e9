import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { versionsOfIfMatch } from '@recordbus/http';
import { contentTag, etagOf, isNoneMatch } from './etag.ts';

describe('etag', () => {
  it('is weak and made from the version', () => {
    assert.equal(etagOf('1700000000'), 'W/"1700000000"');
    assert.equal(etagOf('1700000000.12'), 'W/"1700000000.12"');
  });

  it('for a view row differs with its content', () => {
    assert.notEqual(contentTag('{"data":{"n":1}}'), contentTag('{"data":{"n":2}}'));
    assert.match(contentTag(''), /^[\w-]{27}$/);
  });
});

describe('If-None-Match', () => {
  const rows: [string, string | undefined, boolean][] = [
    ['is absent', undefined, false],
    ['is the weak tag', 'W/"17.2"', true],
    ['is the strong form', '"17.2"', true],
    ['is the first version of the second', 'W/"17"', false],
    ['is a later version of the second', 'W/"17.20"', false],
    ['has additional zeros', '"17.02", "017.2"', false],
    ['is a list with the tag', '"a", W/"17.2" ,"b,c"', true],
    ['is a list without it', '"1", "7", "x17.2"', false],
    ['is *', ' * ', true],
    ['is not a tag', '17.2', false],
  ];
  for (const [title, header, expected] of rows) {
    it(`${title}: ${expected}`, () => assert.equal(isNoneMatch(header, '17.2'), expected));
  }
});

describe('If-Match', () => {
  const rows: [string, string | undefined, string[] | undefined][] = [
    ['is absent', undefined, undefined],
    ['is *', '*', undefined],
    ['is a list', 'W/"17", "18.1"', ['17', '18.1']],
    ['is not a tag', '17', []],
  ];
  for (const [title, header, expected] of rows) {
    it(title, () => assert.deepEqual(versionsOfIfMatch(header), expected));
  }
});
