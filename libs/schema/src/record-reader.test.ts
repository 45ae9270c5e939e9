import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '@recordbus/shared/errors';
import { testField } from '../test/test-field.ts';
import type { Collection } from './collection.ts';
import type { Field } from './field.ts';
import { compileRecordReader, type RecordReader } from './record-reader.ts';

const collectionOf = (fields: Field[]): Collection => ({
  id: 'c',
  name: 'posts',
  type: 'base',
  fields,
  viewQuery: null,
  rules: { list: null, view: null, create: null, update: null, delete: null },
  historyEnabled: false,
  createdAtSec: 0,
  updatedAtSec: 0,
});
const reader = (...fields: Field[]): RecordReader => compileRecordReader(collectionOf(fields));
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

function assertRefused(read: () => unknown, details: object) {
  assert.throws(read, (error) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.status, 422);
    assert.deepEqual(error.details, details);
    return true;
  });
}

test('a new record gives the fields that the body names', () => {
  const body = { title: 'x', tags: ['a'], constructor: false };
  assert.deepEqual(
    [...posts.readNew(body)],
    [
      ['title', 'x'],
      ['tags', '["a"]'],
      ['constructor', false],
    ],
  );
});

test('everything that is wrong is named at once', () => {
  assertRefused(() => posts.readNew({ rank: 'x', colour: 1, toString: 2 }), {
    rank: 'must be a number',
    colour: 'is not a field of posts',
    toString: 'is not a field of posts',
    title: 'is required',
    tags: 'is required',
    constructor: 'is required',
  });
  assertRefused(
    () => posts.readChange(JSON.parse('{"__proto__": 1}')),
    JSON.parse('{"__proto__": "is not a field of posts"}'),
  );
});

test('required refuses null, the empty text and the empty list; a change may leave the field out', () => {
  const empty = { title: '', tags: [], constructor: null };
  const details = { title: 'is required', tags: 'is required', constructor: 'is required' };
  assertRefused(() => posts.readNew(empty), details);
  assertRefused(() => posts.readChange(empty), details);
  assert.deepEqual([...posts.readChange({})], []);
  assert.deepEqual([...posts.readChange({ rank: 1 })], [['rank', 1]]);
});

test('what the server sets is ignored, so a record that was read can be sent back (contract §2, §8)', () => {
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
  assert.deepEqual([...posts.readChange({ ...read, rank: 2 })], [['rank', 2]]);
});

test('a field that the server sets is ignored in a body, and not missed', () => {
  const timed = reader(named('born', 'autodate', { required: true }), named('rank', 'number'));
  for (const born of [1, 'x', null, '', []]) {
    assert.deepEqual([...timed.readNew({ born })], []);
    assert.deepEqual([...timed.readChange({ born, rank: 2 })], [['rank', 2]]);
  }
});

test('a field called like something the server sets elsewhere is a field', () => {
  assert.deepEqual([...reader(named('anonymous', 'bool')).readChange({ anonymous: true })], [['anonymous', true]]);
});

test('an empty text stands for no value in all types but text and json (contract §8)', () => {
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
    assert.deepEqual([...reader(named('f', type, { options })).readChange({ f: '' })], [['f', expected]], type);
});

test('no files are an empty list where there may be several (contract §3)', () => {
  const several = (name: string, rest: object = {}) => named(name, 'file', { options: { multiple: true }, ...rest });
  const files = reader(several('f'), several('needed', { required: true }), named('one', 'file'));
  const needed = ['a.png'];
  for (const body of [{}, { f: null }, { f: '' }, { f: [] }])
    assert.deepEqual(
      new Map(files.readNew({ ...body, needed })),
      new Map([
        ['f', '[]'],
        ['needed', '["a.png"]'],
      ]),
    );
  assert.deepEqual([...files.readChange({ one: null })], [['one', null]]);
  assert.deepEqual([...files.readChange({ f: null })], [['f', '[]']]);
  assertRefused(() => files.readNew({}), { needed: 'is required' });
});

test('where nothing can be uploaded, names of files are refused with whatever else is wrong', () => {
  const fields = [
    named('one', 'file'),
    named('several', 'file', { options: { multiple: true } }),
    named('n', 'number'),
  ];
  const { readNew } = compileRecordReader(collectionOf(fields), { takesFiles: false });
  const refusal = 'is uploaded when the record is there';
  assertRefused(() => readNew({ one: 'a_0123456789.png', several: ['b_0123456789.png'], n: 'x' }), {
    one: refusal,
    several: refusal,
    n: 'must be a number',
  });
  assertRefused(() => readNew({ one: [] }), { one: refusal });
  assert.deepEqual(
    new Map(readNew({ one: null, several: [] })),
    new Map<string, unknown>([
      ['one', null],
      ['several', '[]'],
    ]),
  );
});

test('null is no value in every type', () => {
  assert.deepEqual(
    [...posts.readChange({ rank: null, extra: null })],
    [
      ['rank', null],
      ['extra', null],
    ],
  );
});
