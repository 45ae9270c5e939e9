import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parsePocketBase } from './parse.ts';
import { PocketBaseSyntaxError } from './tree.ts';

const refusal = (text: string): string => {
  try {
    parsePocketBase(text);
  } catch (error) {
    if (error instanceof PocketBaseSyntaxError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('the parser for PocketBase', () => {
  test('binds && tighter than ||', () => {
    const tree = parsePocketBase('a = 1 || b = 2 && c = 3');
    assert.equal(tree.kind, 'or');
    assert.deepEqual(tree.kind === 'or' && tree.items.map(({ kind }) => kind), ['comparison', 'and']);
  });

  for (const sign of ['=', '!=', '~', '!~', '<', '<=', '>', '>=', '?=', '?!=', '?~', '?!~', '?<', '?<=', '?>', '?>='])
    test(`reads ${sign}`, () => {
      const tree = parsePocketBase(`a${sign}1`);
      assert.equal(tree.kind === 'comparison' && `${tree.isAny ? '?' : ''}${tree.operator}`, sign);
    });

  test('unescapes quotes and line ends, and keeps other backslashes', () => {
    const tree = parsePocketBase(String.raw`a = "x\"y\n\d\\"`);
    assert.deepEqual(tree.kind === 'comparison' && tree.right, {
      kind: 'text',
      value: 'x"y\n\\d\\',
      position: 4,
    });
  });

  test('skips comments, and a comment without an end', () => {
    assert.equal(parsePocketBase('// one (\n a = 1 // two "').kind, 'comparison');
  });

  for (const [text, message] of [
    ['', 'expected a field or a value, found the end (character 1)'],
    ['active', 'expected an operator, found the end (character 7)'],
    ['a == 1', 'expected an operator, found == (character 3)'],
    ['a = 1 & b = 2', '& is not && or || (character 7)'],
    ['a = 1 b = 2', 'expected && or ||, found b (character 7)'],
    ['a = "x', 'a text without an end (character 5)'],
    ['a = 1.', '1. is not a number (character 5)'],
    ['a. = 1', 'a. is not a name (character 1)'],
    ['a = (b)', 'expected a field or a value, found ( (character 5)'],
    ['(a = 1)(b = 2)', 'expected && or ||, found ( (character 8)'],
    ['(a = 1 // it)\n)', 'a comment within brackets has a bracket or a quote (character 8)'],
    [`${'('.repeat(33)}a = 1${')'.repeat(33)}`, 'brackets nest more than 32 deep (character 33)'],
    [Array(201).fill('a=1').join('||'), 'more than 200 comparisons (character 1001)'],
    ['a'.repeat(4001), 'longer than 4000 characters (character 4001)'],
    ['f(f(f(f(1)))) = 1', 'functions nest more than 3 deep (character 7)'],
  ] as const)
    test(`refuses ${text.slice(0, 20)}`, () => assert.equal(refusal(text), message));

  test('reads hostile text in linear time', () => {
    for (const part of ['(', '"', '//', '\\', '-', '@', 'a.', '!?', '&', 'f('])
      assert.notEqual(refusal(part.repeat(2000).slice(0, 4000)), 'accepted');
  });
});
