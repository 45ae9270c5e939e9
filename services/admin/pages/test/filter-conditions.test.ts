import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isComplete, isRaw, readFilter, writeFilter } from '../src/records/filter-conditions.ts';
import { filterFields } from '../src/records/filter-fields.ts';

const fields = filterFields({
  id: 'c',
  name: 'books',
  type: 'base',
  fields: [
    { name: 'title', type: 'text' },
    { name: 'year', type: 'number' },
    { name: 'sold', type: 'bool' },
    { name: 'read', type: 'date' },
    { name: 'tags', type: 'select', options: { values: ['red', 'blue'], multiple: true } },
    { name: 'author', type: 'relation', collection: 'people' },
    { name: 'secret', type: 'text', options: { encrypted: true } },
    { name: 'password', type: 'password' },
  ],
} as never);

describe('the conditions of a filter', () => {
  test('a condition is written as one would type it, and read back', () => {
    for (const text of [
      'title ~ "sea"',
      'title = "say \\"no\\" to \\\\ it"',
      'title = ""',
      'year >= 1990 && year < 2000.5',
      'sold = true || sold = null',
      'read > @now-7d',
      'created >= "2026-01-31T10:00:00Z" && updated < "2026-02-01T00:00:01Z"',
      'tags = "red" && tags != "blue"',
      'author = "0198abc" && author != null',
      'id = "0198abc"',
    ]) {
      const read = readFilter(text, fields);
      assert.equal(read.parts.some(isRaw), false, text);
      assert.ok(
        read.parts.every((part) => isRaw(part) || isComplete(part, fields)),
        text,
      );
      assert.equal(writeFilter(read, fields), text);
    }
  });

  test('other quotes, spaces and kinds of literals mean the same', () => {
    for (const [text, same] of [
      [`title='it"s'`, 'title = "it\\"s"'],
      ['title = 100', 'title = "100"'],
      ['year = "5"', 'year = 5'],
      ['read >= 1769853600', 'read >= "2026-01-31T10:00:00Z"'],
      [String.raw`title = 'a\n\'b'`, String.raw`title = "a\\n'b"`],
    ] as const)
      assert.equal(writeFilter(readFilter(text, fields), fields), same, text);
  });

  test('what no condition can show stays as it is', () => {
    for (const text of [
      'author.name = "Ada" && year = 5',
      '(title ~ "a" || title ~ "b") && not (year = 5)',
      'exists(people, name = "a && b") || sold = true',
      'tags = "gone"',
      'read > @monthStart',
      'secret = "x"',
      'unknown = 3',
      'year in (1, 2)',
    ]) {
      const read = readFilter(text, fields);
      assert.ok(read.parts.some(isRaw), text);
      assert.equal(writeFilter(read, fields), text);
    }
    assert.equal(readFilter('author.name = "Ada" && year = 5', fields).parts.length, 2);
  });

  test('a mixed, commented or broken expression is one part, which others can be added to', () => {
    for (const text of ['year = 1 && year = 2 || sold = true', '(year = 1', 'title = "', 'year = 1)'])
      assert.deepEqual(readFilter(text, fields).parts, [{ raw: `(${text})` }]);
    assert.deepEqual(readFilter('year = 1 // first', fields).parts, [{ raw: '(year = 1 // first\n)' }]);
  });

  test('a condition without its value is incomplete', () => {
    for (const [field, operator, value] of [
      ['title', '~', ''],
      ['year', '=', ''],
      ['year', '=', 'x'],
      ['read', '>=', ''],
      ['read', '> @now-', 'x'],
      ['author', '=', ''],
      ['title', '>', 'x'],
      ['secret', '=', 'x'],
      ['password', '= null', ''],
    ] as const)
      assert.equal(isComplete({ field, operator, value }, fields), false, `${field} ${operator} ${value}`);
  });
});
