import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRecordCounter } from './count-records.ts';
import { fileFormatOf, refusedFileOf } from './file-format.ts';

it('records are counted in every format, byte by byte', () => {
  for (const [format, text, count] of [
    ['csv', '', 0],
    ['csv', 'id,title\r\n', 0],
    ['csv', 'id,title\r\na,"x\r\ny ""z""\r\n"\r\nb,\r\n', 2],
    ['ndjson', '', 0],
    ['ndjson', '{}\n{"a":"\\n"}\n', 2],
    ['json', '[\n]\n', 0],
    ['json', '[\n{},\n{"a":"\\""}\n]\n', 2],
  ] as const) {
    const counter = createRecordCounter(format);
    for (const byte of Buffer.from(text)) counter.add(Uint8Array.of(byte));
    assert.equal(counter.count, count, JSON.stringify(text));
  }
});

it("a file's name gives its format and the name for the refused rows' file", () => {
  for (const [file, format, isCompressed, refused] of [
    ['a.csv', 'csv', false, 'a.refused.csv'],
    ['dir.x/A.CSV.GZ', 'csv', true, 'dir.x/A.refused.csv'],
    ['a.jsonl', 'ndjson', false, 'a.refused.ndjson'],
    ['a.b.json', 'json', false, 'a.b.refused.json'],
  ] as const) {
    assert.deepEqual(fileFormatOf(file, undefined), { format, isCompressed });
    assert.equal(refusedFileOf(file, format), refused);
  }
  assert.deepEqual(fileFormatOf('-', 'json'), { format: 'json', isCompressed: false });
  assert.equal(refusedFileOf('dir.x/data', 'csv'), 'dir.x/data.refused.csv');
  for (const file of ['-', 'data', 'dir.csv/data', 'a.gz', 'a.xml'])
    assert.throws(() => fileFormatOf(file, undefined), /has no format/);
});
