import assert from 'node:assert/strict';
import { it } from 'node:test';
import { testCollection } from '../../../test/test-collection.ts';
import { cellsOf } from '../cells.ts';
import { createCsvWriter } from './csv-writer.ts';

const things = testCollection('things', [
  { name: 'title' },
  { name: 'constructor' },
  { name: 'count', type: 'number' },
]);
const members = ['id', 'title', 'constructor', 'count'];
const lineOf = (record: object) => createCsvWriter(members, cellsOf(things)).record(JSON.stringify(record));

it('quotes texts that need it, and the empty text', () => {
  const table: [title: string | null, cell: string][] = [
    [null, ''],
    ['', '""'],
    ['plain text', 'plain text'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['"', '""""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['\r', '"\'\r"'],
    [' x ', ' x '],
    ['a;b\tc', 'a;b\tc'],
  ];
  for (const [title, cell] of table)
    assert.equal(lineOf({ id: 'a', title, constructor: 'x', count: 1 }), `a,${cell},x,1\r\n`);
});

it('leaves the cell empty if a record does not show the member', () => {
  assert.equal(lineOf({ id: 'a' }), 'a,,,\r\n');
});

it('begins with the member names', () => {
  assert.equal(createCsvWriter(members, cellsOf(things)).start, 'id,title,constructor,count\r\n');
  assert.throws(() => createCsvWriter(['nothing'], cellsOf(things)), /no cell/);
});
