import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternSchema, withPortablePatterns } from './portable-patterns.ts';

test('a pattern stays a pattern if every validator can read it, and otherwise becomes a sentence', () => {
  for (const pattern of ['^[a-z]+$', '^\\d{3}-\\d+$', '(?:a|b)(?=c)(?!d)', '\\u00e9', '\\\\px', 'a/b', ''])
    assert.deepEqual(patternSchema(pattern), { pattern });
  for (const pattern of [
    '^[^\\p{Cc}]*$',
    '\\P{L}',
    '(?<year>\\d+)',
    '(?P<year>\\d+)',
    '(?<=a)b',
    '(?i)a',
    '(?i:a)',
    '\\u{1F600}',
    '\\cA',
    '[]',
    '[^]',
    '(',
    '\\z',
    '[[:alpha:]]\\pL',
  ])
    assert.deepEqual(patternSchema(pattern), { description: `matches ${pattern}` });
});

test('patterns are replaced anywhere in a schema, but not in data', () => {
  const schema = {
    type: 'object',
    properties: { pattern: { pattern: '\\pL', description: 'a word' }, id: { type: 'string', pattern: '^a$' } },
    items: [{ pattern: '\\pL' }],
    default: { pattern: '\\pL' },
  };
  assert.deepEqual(withPortablePatterns(schema), {
    ...schema,
    properties: { pattern: { description: 'a word; matches \\pL' }, id: { type: 'string', pattern: '^a$' } },
    items: [{ description: 'matches \\pL' }],
  });
});
