import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';

test('a relation is a text that can be an id', () => {
  const refusal = new Error("must be a record's id");
  assertReads(testField('relation', {}, { collection: 'posts' }), [
    ['01890000-0000-7000-8000-000000000000', '01890000-0000-7000-8000-000000000000'],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['x'.repeat(256), refusal],
    ['\0', refusal],
    [1, refusal],
    [['x'], refusal],
    [{ id: 'x' }, refusal],
  ]);
});

test('a relation to several records is a list of ids, each once', () => {
  const noIds = new Error('must have record ids');
  const several = testField('relation', { multiple: true }, { collection: 'posts' });
  const many = Array.from({ length: 10_000 }, (_, at) => `id${at}`);
  assertReads(several, [
    [[], '[]'],
    [['b', 'a'], '["b","a"]'],
    [many, JSON.stringify(many)],
    [['a', 'b', 'a'], new Error('must have each id once')],
    ['a', new Error('must be a list')],
    [{ a: 1 }, new Error('must be a list')],
    [['a', null], noIds],
    [['a', ['b']], noIds],
    [['x'.repeat(256)], noIds],
    [['\0'], noIds],
    [[''], noIds],
  ]);
  assertReads(testField('relation', { multiple: true, max: 2 }), [
    [['a', 'b'], '["a","b"]'],
    [['a', 'b', 'c'], new Error('must have at most 2 ids')],
  ]);
});

test('cascade is one of four, setNull by default [fields §3.9]', () => {
  assert.deepEqual(testField('relation').options, { cascade: 'setNull', multiple: false, max: 0 });
  assertOptionsRefused('relation', [
    [{ cascade: 'ignore' }, { cascade: 'must be one of setNull, cascade, restrict, restrictLast' }],
    [{ cascade: 'restrictLast' }, { cascade: 'must not be restrictLast without multiple' }],
    [{ multiple: 1 }, { multiple: 'must be true or false' }],
    [{ max: -1 }, { max: 'must be a whole number' }],
    [{ max: 1.5 }, { max: 'must be a whole number' }],
  ]);
});

test('changing multiple or max finds stored lists that are too long', () => {
  const longer = (option: string, length: number) => [[option, `jsonb_array_length("f") > ${length}`]];
  const table: [from: object, to: object, expected: string[][]][] = [
    [{}, { multiple: true, max: 1 }, []],
    [{ multiple: true }, { multiple: true }, []],
    [{ multiple: true }, {}, longer('multiple', 1)],
    [{ multiple: true }, { multiple: true, max: 5 }, longer('max', 5)],
    [{ multiple: true, max: 5 }, { multiple: true, max: 4 }, longer('max', 4)],
    [{ multiple: true, max: 5 }, { multiple: true, max: 6 }, []],
    [{ multiple: true, max: 5 }, { multiple: true }, []],
  ];
  for (const [from, to, expected] of table) assert.deepEqual(narrowingsOf('relation', from, to), expected);
});
