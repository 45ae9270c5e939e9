import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatOf, previewOf, separatorOf } from '../src/transfer/preview.ts';

describe("an import file's preview", () => {
  it("takes the format from the file's name", () => {
    assert.deepEqual(['a.CSV', 'a.tsv', 'a.jsonl', 'a.ndjson', 'a.json', 'a.xlsx'].map(formatOf), [
      'csv',
      'csv',
      'ndjson',
      'ndjson',
      'json',
      undefined,
    ]);
  });

  it("finds CSV's separator", () => {
    assert.deepEqual(['a;b;c,d\n1,2,3,4', 'a\tb', 'a,b', 'a'].map(separatorOf), [';', '\t', ',', ',']);
  });

  it('reads quoted cells with separators, line ends and quotes', () => {
    const text = '\ufeffname,says\r\n"Ann, the ""first""","one\ntwo"\r\n\r\nBob,';
    assert.deepEqual(previewOf(text, 'csv', ','), {
      columns: ['name', 'says'],
      rows: [
        ['Ann, the "first"', 'one\ntwo'],
        ['Bob', ''],
      ],
    });
  });

  it('shows five rows', () => {
    const { rows } = previewOf(`n\n${Array.from({ length: 9 }, (_, index) => index).join('\n')}\n`, 'csv', ',');
    assert.deepEqual(rows, [['0'], ['1'], ['2'], ['3'], ['4']]);
  });

  it('reads JSON lines and lists, cut off at their end', () => {
    const rows = [
      ['1', '{"c":"]}"}'],
      ['', 'x"y'],
    ];
    const objects = '{"a":1,"b":{"c":"]}"}},{"b":"x\\"y"}';
    assert.deepEqual(previewOf(`${objects.replace('},{"b"', '}\n{"b"')}\n{"a":`, 'ndjson', ','), {
      columns: ['a', 'b'],
      rows,
    });
    assert.deepEqual(previewOf(` [${objects},{"a":[`, 'json', ','), { columns: ['a', 'b'], rows });
    assert.deepEqual(previewOf('no list', 'json', ','), { columns: [], rows: [] });
  });
});
