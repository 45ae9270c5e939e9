import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { z } from 'zod';
import { boundedList } from './bounded-list.ts';
import { toJsonSchema } from './index.ts';

const texts = z.object({ texts: boundedList(z.string('must be a string'), 3).default([]) });
const problemsOf = (given: unknown) => {
  const { error } = texts.safeParse(given);
  return error && describeIssues(error, given);
};

test('a list within the limit is checked entry by entry', () => {
  assert.deepEqual(texts.parse({ texts: ['a', 'b'] }), { texts: ['a', 'b'] });
  assert.deepEqual(texts.parse({}), { texts: [] });
  assert.deepEqual(problemsOf({ texts: ['a', 1] }), { 'texts.1': 'must be a string' });
  assert.deepEqual(problemsOf({ texts: 'a' }), { texts: 'must be a list' });
});

test('a longer list is refused as a whole, whatever its length', () => {
  for (const length of [4, 1_000_000])
    assert.deepEqual(problemsOf({ texts: new Array(length).fill(1) }), { texts: 'must have at most 3 entries' });
});

test('its JSON Schema names the entries and the limit', () => {
  const { properties } = toJsonSchema(texts, 'input') as { properties: { texts: object } };
  assert.deepEqual(properties.texts, { type: 'array', items: { type: 'string' }, maxItems: 3 });
});
