import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesPattern } from './match-pattern.ts';

const cases: [pattern: string, matching: string[], others: string[]][] = [
  ['room', ['room'], ['rooms', 'roo', 'ROOM', '']],
  ['room:*', ['room:', 'room:1', 'room:a/b*'], ['room', 'a room:1']],
  ['*', ['a', '', '*'], []],
  ['**', ['a', ''], []],
  ['*.chat', ['a.chat', '.chat'], ['a.chats', 'chat']],
  ['a*b*c', ['abc', 'a-b-c', 'abbc', 'abcbc'], ['ac', 'acb', 'abcb']],
  ['ab*ba', ['abba', 'ab-ba'], ['aba', 'ab']],
  ['a*bc*c', ['abcc', 'a1bc2c'], ['abc']],
  ['(.+)$', ['(.+)$'], ['a']],
];

for (const [pattern, matching, others] of cases)
  test(`the pattern ${pattern}`, () => {
    const all = [...matching, ...others];
    assert.deepEqual(
      all.filter((name) => matchesPattern(pattern, name)),
      matching,
    );
  });

// With backtracking, this would never end.
test('a pattern with many stars is matched in linear time', () => {
  for (let count = 0; count < 1000; count += 1) matchesPattern(`${'*a'.repeat(100)}b`, 'a'.repeat(200));
});
