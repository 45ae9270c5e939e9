import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultText, readDefault } from '../src/collections/read-default.ts';
import { changedValues } from '../src/records/form-values.ts';
import { readJson } from '../src/records/read-json.ts';
import { readNumber } from '../src/ui/read-number.ts';
import { readable, Unreadable, UnreadableError } from '../src/ui/unreadable.ts';
import { readHeaders } from '../src/webhooks/read-headers.ts';

const wrong = new Unreadable('{', 'not JSON');
const placesIn = (values: unknown): readonly string[] => {
  try {
    readable(values);
    return [];
  } catch (error) {
    assert.ok(error instanceof UnreadableError);
    return error.places;
  }
};

describe('values that a form cannot read', () => {
  it('are named by their places, those of list entries with a name by that name', () => {
    const fields = [
      { name: 'title', options: { min: wrong } },
      { name: '', options: { max: wrong } },
    ];
    assert.deepEqual(placesIn({ meta: wrong, fields }), ['meta', 'fields.title.options.min', 'fields.1.options.max']);
    assert.deepEqual(placesIn({ meta: { a: [null, new Blob(['a'])] } }), []);
  });

  it('can be in no request, whatever the form does', () => {
    assert.throws(() => JSON.stringify({ data: { meta: wrong } }), UnreadableError);
  });

  it('are changes, so a sheet asks before it drops them', () => {
    const changes = changedValues([{ name: 'meta', type: 'json' }], { meta: { a: 1 } }, { meta: wrong });
    assert.deepEqual(placesIn(changes), ['meta']);
  });

  it('are changes within a value too', () => {
    const changes = changedValues([{ name: 'place', type: 'geoPoint' }], { place: null }, { place: { lat: wrong } });
    assert.deepEqual(placesIn(changes), ['place.lat']);
  });

  /** Texts that cannot be read are shown as "?". */
  const shown = (value: unknown): unknown => (value instanceof Unreadable ? '?' : value);

  it('are numbers with other characters, and never a part of what was typed', () => {
    const numbers = { '': null, ' 5 ': 5, '-1.50': -1.5, '.5': 0.5, '1e3': 1000, '+2': 2 };
    for (const [text, value] of Object.entries(numbers)) assert.equal(readNumber(text), value, text);
    for (const text of ['1,5', '1e', '-', '0x10', '1 2', 'Infinity', '1e999', '٣']) {
      const read = readNumber(text);
      assert.ok(read instanceof Unreadable, text);
      assert.equal(read.text, text);
    }
  });

  it('are defaults with another type', () => {
    const read = (type: string, text: string, options = {}): unknown => shown(readDefault(type, options, text));
    assert.deepEqual(
      [read('text', '5'), read('text', 'true'), read('text', 'null'), read('number', '5'), read('number', 'five')],
      ['5', 'true', 'null', 5, '?'],
    );
    assert.deepEqual([read('bool', 'true'), read('bool', 'yes'), read('date', '@now')], [true, '?', '@now']);
    assert.deepEqual([read('json', '{"a":1}'), read('json', '{a'), read('json', '"x"')], [{ a: 1 }, '?', 'x']);
    const multiple = { multiple: true };
    assert.deepEqual(
      [read('select', 'a'), read('select', '["a"]', multiple), read('select', 'a', multiple)],
      ['a', ['a'], '?'],
    );
    assert.deepEqual([read('vector', '[1,2]'), read('vector', '{}'), read('number', ' ')], [[1, 2], '?', undefined]);
    for (const [type, value] of [
      ['json', 'x'],
      ['text', 'x'],
      ['number', 5],
      ['json', { a: 1 }],
    ] as const)
      assert.deepEqual(readDefault(type, {}, defaultText(type, value)), value);
  });

  it('are lines that are not headers, and headers that are given twice', () => {
    assert.deepEqual(
      shown(readHeaders('X-A: 1\n\n__proto__: a:b')),
      Object.fromEntries([
        ['X-A', '1'],
        ['__proto__', 'a:b'],
      ]),
    );
    for (const text of ['X-A', ': 1', 'X-A: 1\nx-a: 2']) assert.ok(readHeaders(text) instanceof Unreadable, text);
  });

  it('keep what was typed as JSON, and say why it is none', () => {
    const read = readJson('{"a": 2,}');
    assert.ok(read instanceof Unreadable);
    assert.equal(read.text, '{"a": 2,}');
    assert.match(read.reason, /^Not valid JSON: ./);
    assert.deepEqual([readJson(' '), readJson('null'), readJson('"a"'), readJson('[1]')], [null, null, 'a', [1]]);
  });
});
