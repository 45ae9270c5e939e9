import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Collection, fieldTypes } from '@recordbus/schema';
import fc from 'fast-check';
import { testCollection } from '../../test/test-collection.ts';
import { type Cell, cellsOf } from './cells.ts';

const things = testCollection('things', [
  { name: 'title' },
  { name: 'count', type: 'number' },
  { name: 'open', type: 'bool' },
  { name: 'at', type: 'date' },
  { name: 'seen', type: 'autodate' },
  { name: 'kind', type: 'select', options: { values: ['-a', 'b'] } },
  { name: 'kinds', type: 'select', options: { values: ['-a', 'b'], multiple: true } },
  { name: 'parent', type: 'relation', collection: 'things' },
  { name: 'parents', type: 'relation', collection: 'things', options: { multiple: true } },
  { name: 'data', type: 'json' },
  { name: 'place', type: 'geoPoint' },
  { name: 'direction', type: 'vector', options: { dimensions: 2 } },
  { name: 'photo', type: 'file' },
  { name: 'photos', type: 'file', options: { multiple: true } },
]);

function cellOf(member: string, collection: Collection = things, options: { isRaw?: boolean } = {}): Cell {
  const cell = cellsOf(collection, options).get(member);
  assert.ok(cell, member);
  return cell;
}

/** Values in JSON, and their cells. */
const table: readonly [member: string, value: unknown, text: string][] = [
  ['id', '-Ab_3', "'-Ab_3"],
  ['id', 'Ab_3-', 'Ab_3-'],
  ['title', 'plain, "quoted"\r\n', 'plain, "quoted"\r\n'],
  ['title', '', ''],
  ['title', '=1+1', "'=1+1"],
  ['title', '+49 30', "'+49 30"],
  ['title', '-1', "'-1"],
  ['title', '@home', "'@home"],
  ['title', '\tx', "'\tx"],
  ['title', '\rx', "'\rx"],
  ['title', "'=1", "''=1"],
  ['title', "'''@", "''''@"],
  ['title', "'tis", "'tis"],
  ['title', "'", "'"],
  ['title', ' =1', ' =1'],
  ['title', 'null', 'null'],
  ['title', '007', '007'],
  ['count', -1.5, '-1.5'],
  ['count', 0.1, '0.1'],
  ['count', 1e300, '1e+300'],
  ['count', 5e-324, '5e-324'],
  ['count', 9007199254740991, '9007199254740991'],
  ['open', true, 'true'],
  ['open', false, 'false'],
  ['at', 1767225600, '1767225600'],
  ['at', -1, '-1'],
  ['seen', 1767225600, '1767225600'],
  ['kind', '-a', "'-a"],
  ['kinds', ['-a', 'b'], '["-a","b"]'],
  ['kinds', [], '[]'],
  ['parent', '-x', "'-x"],
  ['parents', ['-x', 'y'], '["-x","y"]'],
  ['data', { a: [1, null] }, '{"a":[1,null]}'],
  ['data', 'text', '"text"'],
  ['data', '=1', '"=1"'],
  ['data', '', '""'],
  ['data', -5, '-5'],
  ['data', true, 'true'],
  ['place', { lat: 48.2, lng: -16.4 }, '{"lat":48.2,"lng":-16.4}'],
  ['direction', [1, -0.5], '[1,-0.5]'],
  ['photo', '-me_0123456789.png', "'-me_0123456789.png"],
  ['photos', ['-me_0123456789.png'], '["-me_0123456789.png"]'],
  ['created', 1767225600, '1767225600'],
  ['updated', 1767225600, '1767225600'],
  ['anonymous', false, 'false'],
  ['expand', { parent: { id: 'a' } }, '{"parent":{"id":"a"}}'],
];

describe('a cell', () => {
  for (const [member, value, text] of table) {
    it(`has ${JSON.stringify(text)} for ${JSON.stringify(value)} as ${member}, and back`, () => {
      assert.equal(cellOf(member).write(value), text);
      assert.deepEqual(cellOf(member).read(text), value);
    });
  }

  it('is empty without a value', () => {
    for (const [member, cell] of cellsOf(things)) {
      assert.equal(cell.write(null), null, member);
      assert.equal(cell.write(undefined), null, member);
    }
  });

  it('has a date after the year 5138 as text, since an import takes larger numbers for milliseconds', () => {
    assert.equal(cellOf('at').write(1e11), '100000000000');
    assert.equal(cellOf('at').write(253_402_214_400), '9999-12-31T00:00:00.000Z');
  });

  it('has the unchanged text if it is raw', () => {
    for (const text of ['=1+1', "'=1", '-1']) assert.equal(cellOf('title', things, { isRaw: true }).write(text), text);
  });

  it('keeps a text that is not a value of its member, so the field refuses it', () => {
    const kept: [string, string][] = [
      ['count', 'NaN'],
      ['count', '1,5'],
      ['count', '0x10'],
      ['open', 'yes'],
      ['at', '2026-01-01'],
      ['place', '{lat}'],
      ['created', 'yesterday'],
    ];
    for (const [member, text] of kept) assert.equal(cellOf(member).read(text), text);
    assert.deepEqual(cellOf('kinds').read('b'), ['b']);
  });

  it('with a text never begins like a formula, and reads back as the same text', () => {
    const start = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', 'a', ' ', ',') });
    fc.assert(
      fc.property(fc.oneof(start, fc.string({ unit: 'grapheme' })), (text) => {
        const written = cellOf('title').write(text);
        assert.doesNotMatch(written ?? '', /^[=+\-@\t\r]/);
        assert.equal(cellOf('title').read(written ?? ''), text);
      }),
      { seed: 1 },
    );
  });

  it("exists for every field type, and reads the type's samples back", () => {
    for (const [name, type] of fieldTypes) {
      for (const { options = {}, values } of type.samples) {
        const collection = testCollection('samples', [{ name: 'f', type: name, options: { ...options } }]);
        const cell = cellOf('f', collection);
        for (const value of values) assert.deepEqual(cell.read(cell.write(value) ?? ''), value, name);
      }
    }
  });
});
