import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { describeIssues } from './describe-issues.ts';

const rows: readonly [name: string, schema: z.ZodType, value: unknown, expected: Record<string, string>][] = [
  ['a text', z.object({ a: z.string() }), { a: 1 }, { a: 'must be a string' }],
  ['a missing member', z.object({ a: z.string() }), {}, { a: 'is required' }],
  [
    'an object',
    z.object({ record: z.record(z.string(), z.unknown()) }),
    { record: [] },
    { record: 'must be an object' },
  ],
  ['a whole number', z.object({ a: z.int() }), { a: 1.5 }, { a: 'must be a whole number' }],
  ['a switch', z.object({ a: z.boolean() }), { a: 'x' }, { a: 'must be true or false' }],
  ['a list', z.object({ a: z.array(z.string()) }), { a: {} }, { a: 'must be a list' }],
  ['an entry', z.object({ a: z.array(z.string()) }), { a: ['x', 1] }, { 'a.1': 'must be a string' }],
  ['a least number', z.object({ a: z.int().min(1) }), { a: 0 }, { a: 'must be at least 1' }],
  ['a number above', z.object({ a: z.number().gt(1) }), { a: 1 }, { a: 'must be above 1' }],
  ['a greatest number', z.object({ a: z.int().max(5) }), { a: 6 }, { a: 'must be at most 5' }],
  ['an empty text', z.object({ a: z.string().min(1) }), { a: '' }, { a: 'must not be empty' }],
  ['a long text', z.object({ a: z.string().max(2) }), { a: 'abc' }, { a: 'must have at most 2 characters' }],
  ['a short list', z.object({ a: z.array(z.string()).min(2) }), { a: [] }, { a: 'must have at least 2 entries' }],
  ['one of some values', z.object({ a: z.enum(['x', 'y']) }), { a: 'z' }, { a: 'must be one of x, y' }],
  ['one value', z.object({ a: z.literal(1) }), { a: 2 }, { a: 'must be 1' }],
  ['an address', z.object({ a: z.email() }), { a: 'x' }, { a: 'must be an email address' }],
  ['an id', z.object({ a: z.uuid() }), { a: 'x' }, { a: 'must be a UUID' }],
  ['a multiple', z.object({ a: z.number().multipleOf(5) }), { a: 3 }, { a: 'must be a multiple of 5' }],
  [
    'one of two types',
    z.object({ a: z.union([z.string(), z.array(z.string())]) }),
    { a: 1 },
    { a: 'must be a string or a list' },
  ],
  [
    'the closest of two types',
    z.object({ a: z.union([z.boolean(), z.object({ page: z.int().min(1) })]) }),
    { a: { page: 0 } },
    { 'a.page': 'must be at least 1' },
  ],
  [
    'a kind',
    z.discriminatedUnion('type', [z.object({ type: z.literal('x') }), z.object({ type: z.literal('y') })]),
    { type: 'z' },
    { type: 'must be one of x, y' },
  ],
  [
    'the name of a member',
    z.record(z.string().max(1), z.unknown()),
    { ab: 1 },
    { ab: 'has a name that must have at most 1 character' },
  ],
  ['a message of the schema', z.object({ a: z.string('is not text') }), { a: 1 }, { a: 'is not text' }],
  ['a check without a message', z.object({ a: z.string().refine(() => false) }), { a: '' }, { a: 'is not valid' }],
];

for (const [name, schema, value, expected] of rows)
  test(`${name} is described in a sentence [http §4.3]`, () => {
    const { error } = schema.safeParse(value);
    assert.ok(error);
    assert.deepEqual(describeIssues(error, value), expected);
  });
