import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '@recordbus/errors';
import { testField } from '../test/test-field.ts';
import type { Field } from './field.ts';
import { compileRecordReader, type RecordReader } from './record-reader.ts';
import { testCollection } from './test-collection.ts';

const reader = (...fields: Field[]): RecordReader => compileRecordReader(testCollection('posts', fields));
const named = (name: string, type: string, rest: Omit<Partial<Field>, 'options'> & { options?: object } = {}) => {
  const { options, ...others } = rest;
  return testField(type, options, { id: name, name, ...others });
};

const posts = reader(
  named('title', 'text', { required: true }),
  named('rank', 'number'),
  named('tags', 'select', { required: true, options: { values: ['a'], multiple: true } }),
  named('extra', 'json'),
  named('constructor', 'bool', { required: true }),
);

async function assertRefused(read: () => Promise<unknown>, details: object) {
  await assert.rejects(read, (error) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.status, 422);
    assert.deepEqual(error.details, details);
    return true;
  });
}

test('a new record has the fields that the body names', async () => {
  const body = { title: 'x', tags: ['a'], constructor: false };
  assert.deepEqual(
    [...(await posts.readNew(body))],
    [
      ['title', 'x'],
      ['tags', '["a"]'],
      ['constructor', false],
    ],
  );
});

test('one answer has all problems', async () => {
  await assertRefused(() => posts.readNew({ rank: 'x', colour: 1, toString: 2 }), {
    rank: 'must be a number',
    colour: 'is not a field of posts',
    toString: 'is not a field of posts',
    title: 'is required',
    tags: 'is required',
    constructor: 'is required',
  });
  await assertRefused(
    () => posts.readChange(JSON.parse('{"__proto__": 1}')),
    JSON.parse('{"__proto__": "is not a field of posts"}'),
  );
});

test('required refuses null, the empty text and the empty list, but a change may leave the field out', async () => {
  const empty = { title: '', tags: [], constructor: null };
  const details = { title: 'is required', tags: 'is required', constructor: 'is required' };
  await assertRefused(() => posts.readNew(empty), details);
  await assertRefused(() => posts.readChange(empty), details);
  assert.deepEqual([...(await posts.readChange({}))], []);
  assert.deepEqual([...(await posts.readChange({ rank: 1 }))], [['rank', 1]]);
});

test('members that the server sets are ignored, so that a record can be sent back as it was read [records §5.2]', async () => {
  const read = {
    id: 'x',
    created: 1,
    updated: 1,
    expand: {},
    anonymous: true,
    created_at: 1,
    updated_at: 1,
    _score: 1,
  };
  assert.deepEqual([...(await posts.readChange({ ...read, rank: 2 }))], [['rank', 2]]);
});

test('a field that the server sets is ignored in a body, and never missing', async () => {
  const timed = reader(named('born', 'autodate', { required: true }), named('rank', 'number'));
  for (const born of [1, 'x', null, '', []]) {
    assert.deepEqual([...(await timed.readNew({ born }))], []);
    assert.deepEqual([...(await timed.readChange({ born, rank: 2 }))], [['rank', 2]]);
  }
});

test('a field may be named like a member that the server sets in other collections', async () => {
  assert.deepEqual(
    [...(await reader(named('anonymous', 'bool')).readChange({ anonymous: true }))],
    [['anonymous', true]],
  );
});

test('an empty text is null, except for text and json [fields §2.2]', async () => {
  const types: [string, object, unknown][] = [
    ['text', {}, ''],
    ['json', {}, '""'],
    ['number', { min: 1 }, null],
    ['bool', {}, null],
    ['date', {}, null],
    ['select', { values: ['a'] }, null],
    ['select', { values: ['a'], multiple: true }, null],
    ['relation', {}, null],
  ];
  for (const [type, options, expected] of types)
    assert.deepEqual([...(await reader(named('f', type, { options })).readChange({ f: '' }))], [['f', expected]], type);
});

test('a field for several files without a file is an empty list [fields §2.3]', async () => {
  const several = (name: string, rest: object = {}) => named(name, 'file', { options: { multiple: true }, ...rest });
  const files = reader(several('f'), several('needed', { required: true }), named('one', 'file'));
  const needed = ['a.png'];
  for (const body of [{}, { f: null }, { f: '' }, { f: [] }])
    assert.deepEqual(
      new Map(await files.readNew({ ...body, needed })),
      new Map([
        ['f', '[]'],
        ['needed', '["a.png"]'],
      ]),
    );
  assert.deepEqual([...(await files.readChange({ one: null }))], [['one', null]]);
  assert.deepEqual([...(await files.readChange({ f: null }))], [['f', '[]']]);
  await assertRefused(() => files.readNew({}), { needed: 'is required' });
});

test('without uploads, file names are refused along with other problems', async () => {
  const fields = [
    named('one', 'file'),
    named('several', 'file', { options: { multiple: true } }),
    named('n', 'number'),
  ];
  const { readNew } = compileRecordReader(testCollection('posts', fields), { takesFiles: false });
  const refusal = 'can only be uploaded once the record exists';
  await assertRefused(() => readNew({ one: 'a_0123456789.png', several: ['b_0123456789.png'], n: 'x' }), {
    one: refusal,
    several: refusal,
    n: 'must be a number',
  });
  await assertRefused(() => readNew({ one: [] }), { one: refusal });
  assert.deepEqual(
    new Map(await readNew({ one: null, several: [] })),
    new Map<string, unknown>([
      ['one', null],
      ['several', '[]'],
    ]),
  );
});

test('null clears a field, whatever its type', async () => {
  assert.deepEqual(
    [...(await posts.readChange({ rank: null, extra: null }))],
    [
      ['rank', null],
      ['extra', null],
    ],
  );
});

test("a body's patterns share a budget [cost §4.2]", async () => {
  // 200 instructions: a text with 1,500 characters is the longest that one field takes.
  const costly = Array.from({ length: 11 }, (_, index) =>
    named(`f${index}`, 'text', { options: { pattern: '^a{1,98}|b' } }),
  );
  const long = reader(...costly);
  const text = 'b'.repeat(1500);
  const bodyOf = (count: number) => Object.fromEntries(costly.slice(0, count).map(({ name }) => [name, text]));
  assert.equal((await long.readNew(bodyOf(10))).size, 10);
  await assertRefused(() => long.readNew(bodyOf(11)), {
    f10: 'is too long to be checked against its pattern together with the other fields',
  });
});

test('a body that takes long to read yields to the event loop [cost §4.2]', async () => {
  const pattern = '^(a{1,30}){1,10}$';
  const fields = Array.from({ length: 10 }, (_, index) => named(`f${index}`, 'text', { options: { pattern } }));
  let turns = 0;
  const turn = () => {
    turns += 1;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  const text = 'a'.repeat(300);
  await reader(...fields).readNew(Object.fromEntries(fields.map(({ name }) => [name, text])));
  clearImmediate(timer);
  assert.ok(turns > 1, `${turns} turns`);
});
