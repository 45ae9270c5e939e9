import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changedValues } from '../src/records/form-values.ts';
import { readJson } from '../src/records/read-json.ts';
import { readable, Unreadable, UnreadableError } from '../src/ui/unreadable.ts';

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

  it('keep what was typed as JSON, and say why it is none', () => {
    const read = readJson('{"a": 2,}');
    assert.ok(read instanceof Unreadable);
    assert.equal(read.text, '{"a": 2,}');
    assert.match(read.reason, /^Not valid JSON: ./);
    assert.deepEqual([readJson(' '), readJson('null'), readJson('"a"'), readJson('[1]')], [null, null, 'a', [1]]);
  });
});
