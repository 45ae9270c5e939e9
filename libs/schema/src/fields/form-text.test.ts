import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testField } from '../../test/test-field.ts';
import { fieldTypeOf } from './index.ts';

/** Asserts the values that the text parts for one field in a form stand for. */
function assertForm(type: string, options: object, table: readonly [texts: string[], value: unknown][]): void {
  const field = testField(type, options);
  for (const [texts, value] of table)
    assert.deepEqual(fieldTypeOf(field).formText(field).read(texts), value, `${type}: ${JSON.stringify(texts)}`);
}

test("a text's value is the last of several parts", () => {
  assertForm('text', {}, [
    [['1'], '1'],
    [['a', 'b'], 'b'],
    [[''], ''],
    [['null'], 'null'],
  ]);
  assertForm('relation', {}, [[['["a"]'], '["a"]']]);
});

test('numbers, dates and booleans are read; other texts stay for the field to refuse', () => {
  assertForm('number', {}, [
    [[' 1.5e3 '], 1500],
    [['.5'], 0.5],
    [['0x10'], '0x10'],
    [['9'.repeat(401)], '9'.repeat(401)],
    [[''], ''],
  ]);
  assertForm('date', {}, [
    [['-12'], -12],
    [['1.5'], 1.5],
    [['1.'], '1.'],
    [['2026-01-01'], '2026-01-01'],
  ]);
  assertForm('bool', {}, [
    [['true'], true],
    [['false'], false],
    [['TRUE'], true],
    [[' False '], false],
    [['WAHR'], 'WAHR'],
    [['1'], '1'],
  ]);
});

test('JSON types read JSON', () => {
  assertForm('json', {}, [
    [['{"a":1}'], { a: 1 }],
    [[' null '], null],
    [['{'], '{'],
    [[''], ''],
  ]);
  assertForm('geoPoint', {}, [[['{"lat":1,"lng":2}'], { lat: 1, lng: 2 }]]);
  assertForm('vector', { dimensions: 2 }, [[['[1,2]'], [1, 2]]]);
});

test('a list is a part for each item, or one part of JSON', () => {
  const lists: [string[], unknown][] = [
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [['["a","b"]'], ['a', 'b']],
    [['a'], ['a']],
    [['[a'], ['[a']],
    [[''], null],
    [['null'], null],
  ];
  assertForm('select', { values: ['a', 'b'], multiple: true }, lists);
  assertForm('file', { multiple: true }, lists);
  assertForm('select', { values: ['a', 'b'] }, [[['a', 'b'], 'b']]);
});

test('it is known in advance which texts are parsed as JSON', () => {
  const isJson = (type: string, options = {}, text = '[1]') => {
    const field = testField(type, options);
    return fieldTypeOf(field).formText(field).isJson(text);
  };
  const all = ['text', 'number', 'date', 'bool', 'json', 'geoPoint', 'file'].map((type) => isJson(type));
  assert.deepEqual(all, [false, false, false, false, true, true, false]);
  assert.deepEqual([isJson('file', { multiple: true }), isJson('file', { multiple: true }, 'a')], [true, false]);
});
