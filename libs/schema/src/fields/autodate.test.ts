import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, testField } from '../../test/test-field.ts';
import { isSetBy } from './autodate.ts';

test('an autodate is set by the writes that its flags name, and by creates if it has no flags', () => {
  const table: [options: object, onCreate: boolean, onUpdate: boolean][] = [
    [{}, true, false],
    [{ onCreate: true }, true, false],
    [{ onUpdate: true }, false, true],
    [{ onCreate: true, onUpdate: true }, true, true],
    [{ onCreate: false }, false, false],
    [{ onUpdate: false }, false, false],
    [{ onCreate: false, onUpdate: true }, false, true],
  ];
  for (const [options, onCreate, onUpdate] of table) {
    const field = testField('autodate', options);
    assert.deepEqual(
      [isSetBy(field, 'onCreate'), isSetBy(field, 'onUpdate')],
      [onCreate, onUpdate],
      JSON.stringify(options),
    );
  }
});

test('a write sets no other type, with any options', () => {
  const field = { ...testField('date'), options: { onCreate: true, onUpdate: true } };
  assert.deepEqual([isSetBy(field, 'onCreate'), isSetBy(field, 'onUpdate')], [false, false]);
});

test('an autodate takes no value and no other option', () => {
  assertReads(testField('autodate'), [
    [1, new Error('is set by the server')],
    ['2026-11-21', new Error('is set by the server')],
  ]);
  assertOptionsRefused('autodate', [
    [
      { onCreate: 1, onUpdate: null },
      { onCreate: 'must be true or false', onUpdate: 'must be true or false' },
    ],
  ]);
});
